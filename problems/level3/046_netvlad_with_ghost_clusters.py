"""NetVLAD pooling with ghost clusters: features are also assigned to clusters that are dropped.

Changed: scale and shift of the batch norm are drawn at random; ones and zeros would let a kernel
leave them out.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH_SIZE = 2048
NUM_FEATURES = 100
NUM_CLUSTERS = 32
FEATURE_SIZE = 512
GHOST_CLUSTERS = 16

SMOKE = {
    "BATCH_SIZE": 5,
    "NUM_FEATURES": 13,
    "NUM_CLUSTERS": 7,
    "FEATURE_SIZE": 33,
    "GHOST_CLUSTERS": 3,
}
SHAPES = [
    {"BATCH_SIZE": 33, "NUM_FEATURES": 50, "NUM_CLUSTERS": 17, "FEATURE_SIZE": 130},
    {"BATCH_SIZE": 256, "NUM_FEATURES": 64, "NUM_CLUSTERS": 64, "FEATURE_SIZE": 256},
]


class Model(nn.Module):
    def __init__(self, cluster_size: int, feature_size: int, ghost_clusters: int) -> None:
        super().__init__()
        scale = 1 / math.sqrt(feature_size)
        clusters = cluster_size + ghost_clusters
        self.cluster_size = cluster_size
        self.clusters = nn.Parameter(scale * torch.randn(feature_size, clusters))
        self.batch_norm = nn.BatchNorm1d(clusters)
        self.clusters2 = nn.Parameter(scale * torch.randn(1, feature_size, cluster_size))
        nn.init.uniform_(self.batch_norm.weight, 0.5, 1.5)
        nn.init.normal_(self.batch_norm.bias, std=0.2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, num_features, feature_size = x.shape
        scores = self.batch_norm(x.reshape(-1, feature_size) @ self.clusters)
        assignment = F.softmax(scores, dim=1)[:, : self.cluster_size]
        assignment = assignment.view(batch, num_features, self.cluster_size)
        centres = assignment.sum(dim=1, keepdim=True) * self.clusters2
        vlad = (assignment.transpose(1, 2) @ x).transpose(1, 2) - centres
        vlad = F.normalize(vlad, dim=1).reshape(batch, feature_size * self.cluster_size)
        return F.normalize(vlad, dim=1)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, NUM_FEATURES, FEATURE_SIZE)]


def get_init_inputs() -> list:
    return [NUM_CLUSTERS, FEATURE_SIZE, GHOST_CLUSTERS]
