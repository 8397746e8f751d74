"""Convolutional vision transformer on two tokens: a class token and one for the whole image.

Changed: the class token, biases and the norms' scales and shifts are drawn at random; ones and
zeros would let a kernel leave them out.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 10
IMAGE_SIZE = 32
EMBED_DIM = 128
IN_CHANNELS = 3
NUM_HEADS = 4
NUM_CLASSES = 1000

SMOKE = {"BATCH_SIZE": 3, "EMBED_DIM": 48, "NUM_HEADS": 3, "NUM_CLASSES": 151}
SHAPES = [
    {"BATCH_SIZE": 1, "EMBED_DIM": 60, "NUM_HEADS": 5, "NUM_CLASSES": 333},
    {"BATCH_SIZE": 64, "EMBED_DIM": 96, "NUM_HEADS": 8, "NUM_CLASSES": 100},
]


class Model(nn.Module):
    def __init__(
        self,
        num_classes: int,
        embed_dim: int = 512,
        num_heads: int = 8,
        num_layers: int = 6,
        mlp_ratio: float = 4.0,
        patch_size: int = 4,
        in_channels: int = 3,
        image_size: int = 32,
    ) -> None:
        super().__init__()
        num_patches = (image_size // patch_size) ** 2
        hidden_dim = int(embed_dim * mlp_ratio)
        self.conv1 = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.linear_proj = nn.Linear(embed_dim * num_patches, embed_dim)
        self.transformer_layers = nn.ModuleList(
            nn.TransformerEncoderLayer(embed_dim, num_heads, hidden_dim, 0.0, batch_first=True)
            for _ in range(num_layers)
        )
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.fc_out = nn.Linear(embed_dim, num_classes)
        self._draw_vectors()

    def _draw_vectors(self) -> None:
        for name, parameter in self.transformer_layers.named_parameters():
            if parameter.dim() == 1 and name.endswith("weight"):
                nn.init.uniform_(parameter, 0.5, 1.5)
            elif parameter.dim() == 1:
                nn.init.normal_(parameter, std=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        image_token = self.linear_proj(torch.flatten(self.conv1(x), 1))
        cls_token = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat([cls_token, image_token.unsqueeze(1)], dim=1)
        for layer in self.transformer_layers:
            x = layer(x)
        return self.fc_out(x[:, 0])


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, IMAGE_SIZE, IMAGE_SIZE)]


def get_init_inputs() -> list:
    return [NUM_CLASSES, EMBED_DIM, NUM_HEADS]
