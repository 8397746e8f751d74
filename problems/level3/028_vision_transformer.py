"""Vision transformer: linear patch embedding, class token, post-norm encoder, two-layer head.

Changed: attention runs over the tokens of an image (batch_first=True); it ran over the batch, so
that the class token never saw the image and all images gave the same logits. Each layer draws its
own weights, and scales, shifts and biases are drawn at random; copies of one layer, ones and zeros
would let a kernel take short cuts.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 2
IMAGE_SIZE = 224
PATCH_SIZE = 16
NUM_CLASSES = 10
DIM = 512
DEPTH = 6
HEADS = 8
MLP_DIM = 2048
CHANNELS = 3
DROPOUT = 0.0
EMB_DROPOUT = 0.0

SMOKE = {
    "BATCH_SIZE": 3,
    "IMAGE_SIZE": 48,
    "PATCH_SIZE": 8,
    "NUM_CLASSES": 151,
    "DIM": 48,
    "DEPTH": 2,
    "HEADS": 6,
    "MLP_DIM": 68,
}
SHAPES = [
    {"BATCH_SIZE": 5, "IMAGE_SIZE": 60, "PATCH_SIZE": 12, "DIM": 120, "HEADS": 5, "MLP_DIM": 333},
    {"IMAGE_SIZE": 160, "NUM_CLASSES": 1000, "DIM": 384, "DEPTH": 4, "HEADS": 6, "MLP_DIM": 1536},
]


class Model(nn.Module):
    def __init__(
        self,
        image_size: int,
        patch_size: int,
        num_classes: int,
        dim: int,
        depth: int,
        heads: int,
        mlp_dim: int,
        channels: int = 3,
        dropout: float = 0.1,
        emb_dropout: float = 0.1,
    ) -> None:
        super().__init__()
        num_patches = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.patch_dim = channels * patch_size**2
        self.pos_embedding = nn.Parameter(torch.randn(1, num_patches + 1, dim))
        self.patch_to_embedding = nn.Linear(self.patch_dim, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.dropout = nn.Dropout(emb_dropout)
        layer = nn.TransformerEncoderLayer(dim, heads, mlp_dim, dropout, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.to_cls_token = nn.Identity()
        self.mlp_head = nn.Sequential(
            nn.Linear(dim, mlp_dim),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(mlp_dim, num_classes),
        )
        self._draw_encoder()

    def _draw_encoder(self) -> None:
        for name, parameter in self.transformer.named_parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
            elif name.endswith("weight"):
                nn.init.uniform_(parameter, 0.5, 1.5)
            else:
                nn.init.normal_(parameter, std=0.1)

    def forward(self, img: torch.Tensor) -> torch.Tensor:
        p = self.patch_size
        # (batch, channel, row, column, p, p): neighbouring patches of one channel share a token.
        patches = img.unfold(2, p, p).unfold(3, p, p).reshape(img.shape[0], -1, self.patch_dim)
        tokens = self.patch_to_embedding(patches)
        cls_tokens = self.cls_token.expand(img.shape[0], -1, -1)
        x = torch.cat([cls_tokens, tokens], dim=1) + self.pos_embedding
        x = self.transformer(self.dropout(x))
        return self.mlp_head(self.to_cls_token(x[:, 0]))


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, CHANNELS, IMAGE_SIZE, IMAGE_SIZE)]


def get_init_inputs() -> list:
    return [
        IMAGE_SIZE,
        PATCH_SIZE,
        NUM_CLASSES,
        DIM,
        DEPTH,
        HEADS,
        MLP_DIM,
        CHANNELS,
        DROPOUT,
        EMB_DROPOUT,
    ]
