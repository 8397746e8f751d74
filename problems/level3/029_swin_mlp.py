"""Swin-MLP: windows mixed by grouped linear layers over their pixels, shifted by padding.

Changed: scales and shifts of the layer norms are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
IMAGE_SIZE = 224

SMOKE = {"BATCH_SIZE": 1}
SHAPES = [{"BATCH_SIZE": 3}]


def window_partition(x: torch.Tensor, window: int) -> torch.Tensor:
    """(batch, height, width, channels) to (windows, window, window, channels)."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // window, window, width // window, window, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window, window, channels)


def window_reverse(windows: torch.Tensor, window: int, height: int, width: int) -> torch.Tensor:
    """(windows, window, window, channels) to (batch, height, width, channels)."""
    channels = windows.shape[-1]
    x = windows.view(-1, height // window, width // window, window, window, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, height, width, channels)


class Mlp(nn.Module):
    def __init__(self, dim: int, hidden_dim: int, drop: float) -> None:
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_dim, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class SwinMLPBlock(nn.Module):
    def __init__(
        self,
        dim: int,
        input_resolution: tuple[int, int],
        num_heads: int,
        window_size: int,
        shift_size: int,
        mlp_ratio: float,
        drop: float,
        norm_layer: type[nn.Module],
    ) -> None:
        super().__init__()
        if min(input_resolution) <= window_size:
            window_size, shift_size = min(input_resolution), 0
        self.input_resolution = input_resolution
        self.num_heads = num_heads
        self.window_size = window_size
        # The windows move down and right: one of them reaches over each edge of the image.
        self.pad_before = (window_size - shift_size) % window_size
        self.pad_after = shift_size
        self.norm1 = norm_layer(dim)
        mixed = num_heads * window_size**2
        self.spatial_mlp = nn.Conv1d(mixed, mixed, kernel_size=1, groups=num_heads)
        self.drop_path = nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)

    def mix(self, x: torch.Tensor) -> torch.Tensor:
        """Mix the pixels of each window, every head with its own weights."""
        before, after, window = self.pad_before, self.pad_after, self.window_size
        if after:
            x = F.pad(x, (0, 0, before, after, before, after))
        height, width, channels = x.shape[1:]
        pixels = window**2
        x = window_partition(x, window).view(-1, pixels, self.num_heads, channels // self.num_heads)
        x = x.transpose(1, 2).reshape(-1, self.num_heads * pixels, channels // self.num_heads)
        x = self.spatial_mlp(x)
        x = x.view(-1, self.num_heads, pixels, channels // self.num_heads).transpose(1, 2)
        x = window_reverse(x.reshape(-1, window, window, channels), window, height, width)
        return x[:, before : height - after, before : width - after]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = self.input_resolution
        mixed = self.mix(self.norm1(x).unflatten(1, (height, width))).flatten(1, 2)
        x = x + self.drop_path(mixed)
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Module):
    def __init__(
        self, input_resolution: tuple[int, int], dim: int, norm_layer: type[nn.Module]
    ) -> None:
        super().__init__()
        self.input_resolution = input_resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.unflatten(1, self.input_resolution)
        corners = [x[:, i::2, j::2] for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
        return self.reduction(self.norm(torch.cat(corners, dim=-1).flatten(1, 2)))


class BasicLayer(nn.Module):
    def __init__(
        self,
        dim: int,
        input_resolution: tuple[int, int],
        depth: int,
        num_heads: int,
        window_size: int,
        mlp_ratio: float,
        drop: float,
        norm_layer: type[nn.Module],
        downsample: bool,
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinMLPBlock(
                dim,
                input_resolution,
                num_heads,
                window_size,
                0 if i % 2 == 0 else window_size // 2,
                mlp_ratio,
                drop,
                norm_layer,
            )
            for i in range(depth)
        )
        self.downsample = PatchMerging(input_resolution, dim, norm_layer) if downsample else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x if self.downsample is None else self.downsample(x)


class PatchEmbed(nn.Module):
    def __init__(
        self, patch_size: int, in_chans: int, embed_dim: int, norm_layer: type[nn.Module] | None
    ) -> None:
        super().__init__()
        self.proj = nn.Conv2d(in_chans, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.norm = nn.Identity() if norm_layer is None else norm_layer(embed_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.proj(x).flatten(2).transpose(1, 2))


class Model(nn.Module):
    def __init__(
        self,
        img_size: int = 224,
        patch_size: int = 4,
        in_chans: int = 3,
        num_classes: int = 1000,
        embed_dim: int = 96,
        depths: tuple[int, ...] = (2, 2, 6, 2),
        num_heads: tuple[int, ...] = (3, 6, 12, 24),
        window_size: int = 7,
        mlp_ratio: float = 4.0,
        drop_rate: float = 0.0,
        drop_path_rate: float = 0.1,
        norm_layer: type[nn.Module] = nn.LayerNorm,
        patch_norm: bool = True,
        use_checkpoint: bool = False,
        **kwargs: object,
    ) -> None:
        super().__init__()
        side = img_size // patch_size
        patch_norm_layer = norm_layer if patch_norm else None
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, patch_norm_layer)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList(
            BasicLayer(
                embed_dim * 2**i,
                (side // 2**i, side // 2**i),
                depth,
                heads,
                window_size,
                mlp_ratio,
                drop_rate,
                norm_layer,
                downsample=i + 1 < len(depths),
            )
            for i, (depth, heads) in enumerate(zip(depths, num_heads, strict=True))
        )
        width = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm_layer(width)
        self.avgpool = nn.AdaptiveAvgPool1d(1)
        self.head = nn.Linear(width, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.LayerNorm):
                nn.init.uniform_(layer.weight, 0.5, 1.5)
                nn.init.normal_(layer.bias, std=0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pos_drop(self.patch_embed(x))
        for layer in self.layers:
            x = layer(x)
        x = self.avgpool(self.norm(x).transpose(1, 2))
        return self.head(torch.flatten(x, 1))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, 3, IMAGE_SIZE, IMAGE_SIZE)]


def get_init_inputs() -> list:
    return []
