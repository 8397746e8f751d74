"""Swin transformer v2: cosine attention in shifted windows, log-spaced position bias, post-norm.

Changed: scales and shifts of the layer norms and biases of queries and values are drawn at random;
ones and zeros would let a kernel leave them out. Logit scales differ from head to head, and some
exceed their limit of 100.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 10
IMAGE_SIZE = 224

SMOKE = {"BATCH_SIZE": 1}
SHAPES = [{"BATCH_SIZE": 3}]


def window_partition(x: torch.Tensor, window: int) -> torch.Tensor:
    """(batch, height, width, channels) to (windows, pixels, channels)."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // window, window, width // window, window, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, window**2, channels)


def window_reverse(windows: torch.Tensor, window: int, height: int, width: int) -> torch.Tensor:
    """(windows, pixels, channels) to (batch, height, width, channels)."""
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


class WindowAttention(nn.Module):
    def __init__(
        self,
        dim: int,
        window_size: int,
        num_heads: int,
        qkv_bias: bool,
        attn_drop: float,
        proj_drop: float,
        pretrained_window_size: int,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.logit_scale = nn.Parameter(torch.empty(num_heads, 1, 1))
        nn.init.uniform_(self.logit_scale, math.log(2.0), math.log(120.0))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False)
        )
        self.register_buffer(
            "relative_coords_table", self._coords_table(window_size, pretrained_window_size)
        )
        self.register_buffer("relative_position_index", self._position_index(window_size))
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.q_bias = nn.Parameter(0.2 * torch.randn(dim)) if qkv_bias else None
        self.v_bias = nn.Parameter(0.2 * torch.randn(dim)) if qkv_bias else None
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)
        self.softmax = nn.Softmax(dim=-1)

    @staticmethod
    def _coords_table(window: int, pretrained_window: int) -> torch.Tensor:
        """Offsets between two pixels of a window on a logarithmic scale from -1 to 1."""
        offsets = torch.arange(1 - window, window, dtype=torch.float32)
        grid = torch.stack(torch.meshgrid(offsets, offsets, indexing="ij"), dim=-1)[None]
        grid = grid * 8 / ((pretrained_window or window) - 1)
        return grid.sign() * torch.log2(grid.abs() + 1) / math.log2(8)

    @staticmethod
    def _position_index(window: int) -> torch.Tensor:
        """Row of the flattened table for each pair of pixels."""
        axis = torch.arange(window)
        coords = torch.stack(torch.meshgrid(axis, axis, indexing="ij")).flatten(1)
        rows, columns = coords[:, :, None] - coords[:, None, :] + window - 1
        return rows * (2 * window - 1) + columns

    def _position_bias(self) -> torch.Tensor:
        pixels = self.relative_position_index.shape[0]
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)
        bias = table[self.relative_position_index.view(-1)].view(pixels, pixels, -1)
        return 16 * torch.sigmoid(bias.permute(2, 0, 1))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        windows, pixels, channels = x.shape
        qkv_bias = None
        if self.q_bias is not None:
            qkv_bias = torch.cat([self.q_bias, torch.zeros_like(self.v_bias), self.v_bias])
        qkv = F.linear(x, self.qkv.weight, qkv_bias).view(windows, pixels, 3, self.num_heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * self.logit_scale.clamp(max=math.log(100.0)).exp()
        attn = attn + self._position_bias()
        if mask is not None:
            attn = attn.unflatten(0, (-1, mask.shape[0])) + mask[:, None]
            attn = attn.flatten(0, 1)
        attn = self.attn_drop(self.softmax(attn))
        x = (attn @ v).transpose(1, 2).reshape(windows, pixels, channels)
        return self.proj_drop(self.proj(x))


class SwinTransformerBlock(nn.Module):
    def __init__(
        self,
        dim: int,
        input_resolution: tuple[int, int],
        num_heads: int,
        window_size: int,
        shift_size: int,
        mlp_ratio: float,
        qkv_bias: bool,
        drop: float,
        attn_drop: float,
        norm_layer: type[nn.Module],
        pretrained_window_size: int,
    ) -> None:
        super().__init__()
        if min(input_resolution) <= window_size:
            window_size, shift_size = min(input_resolution), 0
        self.input_resolution = input_resolution
        self.window_size = window_size
        self.shift_size = shift_size
        self.norm1 = norm_layer(dim)
        self.attn = WindowAttention(
            dim, window_size, num_heads, qkv_bias, attn_drop, drop, pretrained_window_size
        )
        self.drop_path = nn.Identity()
        self.norm2 = norm_layer(dim)
        self.mlp = Mlp(dim, int(dim * mlp_ratio), drop)
        self.register_buffer("attn_mask", self._mask() if shift_size else None)

    def _mask(self) -> torch.Tensor:
        """-100 between pixels that only the roll has brought into one window, 0 elsewhere."""
        height, width = self.input_resolution
        window, shift = self.window_size, self.shift_size
        regions = torch.zeros(1, height, width, 1)
        bands = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
        for i, rows in enumerate(bands):
            for j, columns in enumerate(bands):
                regions[:, rows, columns] = 3 * i + j
        flat = window_partition(regions, window).squeeze(-1)
        same = flat[:, None, :] == flat[:, :, None]
        return torch.zeros(same.shape).masked_fill(~same, -100.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        height, width = self.input_resolution
        shift = self.shift_size
        grid = x.unflatten(1, (height, width))
        if shift:
            grid = torch.roll(grid, shifts=(-shift, -shift), dims=(1, 2))
        windows = self.attn(window_partition(grid, self.window_size), self.attn_mask)
        grid = window_reverse(windows, self.window_size, height, width)
        if shift:
            grid = torch.roll(grid, shifts=(shift, shift), dims=(1, 2))
        x = x + self.drop_path(self.norm1(grid.flatten(1, 2)))
        return x + self.drop_path(self.norm2(self.mlp(x)))


class PatchMerging(nn.Module):
    def __init__(
        self, input_resolution: tuple[int, int], dim: int, norm_layer: type[nn.Module]
    ) -> None:
        super().__init__()
        self.input_resolution = input_resolution
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.unflatten(1, self.input_resolution)
        corners = [x[:, i::2, j::2] for i, j in ((0, 0), (1, 0), (0, 1), (1, 1))]
        return self.norm(self.reduction(torch.cat(corners, dim=-1).flatten(1, 2)))


class BasicLayer(nn.Module):
    def __init__(
        self, depth: int, window_size: int, downsample: PatchMerging | None, **block: object
    ) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            SwinTransformerBlock(
                window_size=window_size,
                shift_size=0 if i % 2 == 0 else window_size // 2,
                **block,
            )
            for i in range(depth)
        )
        self.downsample = downsample

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
        qkv_bias: bool = True,
        drop_rate: float = 0.0,
        attn_drop_rate: float = 0.0,
        drop_path_rate: float = 0.1,
        norm_layer: type[nn.Module] = nn.LayerNorm,
        patch_norm: bool = True,
        use_checkpoint: bool = False,
        pretrained_window_sizes: tuple[int, ...] = (0, 0, 0, 0),
        **kwargs: object,
    ) -> None:
        super().__init__()
        side = img_size // patch_size
        patch_norm_layer = norm_layer if patch_norm else None
        self.patch_embed = PatchEmbed(patch_size, in_chans, embed_dim, patch_norm_layer)
        self.pos_drop = nn.Dropout(drop_rate)
        self.layers = nn.ModuleList()
        for i, depth in enumerate(depths):
            dim = embed_dim * 2**i
            resolution = (side // 2**i, side // 2**i)
            last = i + 1 == len(depths)
            self.layers.append(
                BasicLayer(
                    depth,
                    window_size,
                    None if last else PatchMerging(resolution, dim, norm_layer),
                    dim=dim,
                    input_resolution=resolution,
                    num_heads=num_heads[i],
                    mlp_ratio=mlp_ratio,
                    qkv_bias=qkv_bias,
                    drop=drop_rate,
                    attn_drop=attn_drop_rate,
                    norm_layer=norm_layer,
                    pretrained_window_size=pretrained_window_sizes[i],
                )
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
