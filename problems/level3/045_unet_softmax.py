"""U-Net of four levels whose activation is a softmax over the width of each feature map.

Changed: scales of the batch norms are drawn from [0.1, 0.3), and the kernels that read softmax
outputs have zero mean over their input channels and are wider. All channels of a softmax have the
same mean: it made image borders outweigh the image, and with scales of one each level magnified
rounding errors, in all a thousand times beyond the tolerance.
"""

import torch
import torch.nn as nn

BATCH_SIZE = 8
IN_CHANNELS = 8
OUT_CHANNELS = 4
HEIGHT = 64
WIDTH = 512
FEATURES = 64

SMOKE = {
    "BATCH_SIZE": 2,
    "IN_CHANNELS": 3,
    "OUT_CHANNELS": 5,
    "HEIGHT": 32,
    "WIDTH": 48,
    "FEATURES": 6,
}
SHAPES = [
    {"BATCH_SIZE": 3, "IN_CHANNELS": 5, "HEIGHT": 48, "WIDTH": 80, "FEATURES": 17},
    {"BATCH_SIZE": 4, "OUT_CHANNELS": 10, "HEIGHT": 32, "WIDTH": 256, "FEATURES": 32},
]
DTYPES = ("fp32",)
FAMILIES = ("negated", "zero_mean", "large", "mixed")


def centre_(weight: torch.Tensor, dim: int, gain: float) -> None:
    weight.sub_(weight.mean(dim, keepdim=True)).mul_(gain)


class DoubleConv(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
            nn.Conv2d(out_channels, out_channels, kernel_size=3, padding=1),
            nn.BatchNorm2d(out_channels),
            nn.Softmax(dim=-1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.double_conv(x)


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, features: int) -> None:
        super().__init__()
        self.encoder1 = DoubleConv(in_channels, features)
        self.pool1 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder2 = DoubleConv(features, features * 2)
        self.pool2 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder3 = DoubleConv(features * 2, features * 4)
        self.pool3 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.encoder4 = DoubleConv(features * 4, features * 8)
        self.pool4 = nn.MaxPool2d(kernel_size=2, stride=2)
        self.bottleneck = DoubleConv(features * 8, features * 16)
        self.upconv4 = nn.ConvTranspose2d(features * 16, features * 8, kernel_size=2, stride=2)
        self.decoder4 = DoubleConv(features * 16, features * 8)
        self.upconv3 = nn.ConvTranspose2d(features * 8, features * 4, kernel_size=2, stride=2)
        self.decoder3 = DoubleConv(features * 8, features * 4)
        self.upconv2 = nn.ConvTranspose2d(features * 4, features * 2, kernel_size=2, stride=2)
        self.decoder2 = DoubleConv(features * 4, features * 2)
        self.upconv1 = nn.ConvTranspose2d(features * 2, features, kernel_size=2, stride=2)
        self.decoder1 = DoubleConv(features * 2, features)
        self.final_conv = nn.Conv2d(features, out_channels, kernel_size=1)
        self._draw_weights()

    @torch.no_grad()
    def _draw_weights(self) -> None:
        encoders = (self.encoder1, self.encoder2, self.encoder3, self.encoder4, self.bottleneck)
        decoders = (self.decoder4, self.decoder3, self.decoder2, self.decoder1)
        for block in (*encoders, *decoders):
            centre_(block.double_conv[3].weight, dim=1, gain=100.0)
            for norm in (block.double_conv[1], block.double_conv[4]):
                nn.init.uniform_(norm.weight, 0.1, 0.3)
                nn.init.normal_(norm.bias, std=0.2)
        for block in encoders[1:]:
            centre_(block.double_conv[0].weight, dim=1, gain=100.0)
        for block in decoders:
            for half in block.double_conv[0].weight.chunk(2, dim=1):
                centre_(half, dim=1, gain=100.0)
        for upconv in (self.upconv4, self.upconv3, self.upconv2, self.upconv1):
            centre_(upconv.weight, dim=0, gain=2.0)
            nn.init.normal_(upconv.bias, std=1e-4)
        centre_(self.final_conv.weight, dim=1, gain=500.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        skip1 = self.encoder1(x)
        skip2 = self.encoder2(self.pool1(skip1))
        skip3 = self.encoder3(self.pool2(skip2))
        skip4 = self.encoder4(self.pool3(skip3))
        x = self.bottleneck(self.pool4(skip4))
        x = self.decoder4(torch.cat([self.upconv4(x), skip4], dim=1))
        x = self.decoder3(torch.cat([self.upconv3(x), skip3], dim=1))
        x = self.decoder2(torch.cat([self.upconv2(x), skip2], dim=1))
        x = self.decoder1(torch.cat([self.upconv1(x), skip1], dim=1))
        return self.final_conv(x)


def get_inputs() -> list:
    return [torch.randn(BATCH_SIZE, IN_CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs() -> list:
    return [IN_CHANNELS, OUT_CHANNELS, FEATURES]
