"""EfficientNet-Lite0 in plain NumPy: batch norms as they are, and sums over the kernel's places."""

import numpy as np

BLOCKS = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
"""The stride of each block."""


def padded(x, side, stride):
    """Zeros around (channels, height, width) as TensorFlow's SAME has them: more at the end."""
    widths = [(0, 0)]
    for length in x.shape[1:]:
        total = max((-(-length // stride) - 1) * stride + side - length, 0)
        widths.append((total // 2, total - total // 2))
    return np.pad(x, widths)


def convolution(x, weight, stride=1):
    """The convolution of (channels, height, width); a weight for one channel is depthwise."""
    side = weight.shape[-1]
    height, width = (-(-length // stride) for length in x.shape[1:])
    x = padded(x, side, stride)
    out = np.zeros((len(weight), height, width))
    for i in range(side):
        for j in range(side):
            seen = x[:, i : i + stride * height : stride, j : j + stride * width : stride]
            here = weight[:, :, i, j]
            out += (
                here[:, 0, None, None] * seen
                if weight.shape[1] == 1
                else np.tensordot(here, seen, 1)
            )
    return out


def normalised(x, tensors, name):
    """A batch norm in inference."""
    scale, shift, mean, variance = (
        tensors[f"{name}.{part}"].astype(float)[:, None, None]
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    return scale * (x - mean) / np.sqrt(variance + 1e-3) + shift


def layer(x, tensors, name, norm, stride=1):
    """A convolution and its batch norm."""
    return normalised(
        convolution(x, tensors[f"{name}.weight"].astype(float), stride), tensors, norm
    )


def relu6(x):
    """Values cut at 0 and 6."""
    return np.clip(x, 0, 6)


def forward(pixels, tensors):
    """(1280,): the mean activations of a picture of (height, width, 3) values from 0 to 255."""
    x = (np.asarray(pixels, dtype=float).transpose(2, 0, 1) - 127) / 128
    x = relu6(layer(x, tensors, "_conv_stem", "_bn0", 2))
    for place, stride in enumerate(BLOCKS):
        name, entry = f"_blocks.{place}", x
        if place:
            x = relu6(layer(x, tensors, f"{name}._expand_conv", f"{name}._bn0"))
        x = relu6(layer(x, tensors, f"{name}._depthwise_conv", f"{name}._bn1", stride))
        x = layer(x, tensors, f"{name}._project_conv", f"{name}._bn2")
        if x.shape == entry.shape:
            x = x + entry
    return relu6(layer(x, tensors, "_conv_head", "_bn1")).mean(axis=(1, 2))
