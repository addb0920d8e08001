# SPDX-License-Identifier: Apache-2.0
"""The decoders of images: files in memory in, arrays of rows × columns × 3 bytes (red, green, blue) out, on the host and in one thread."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any, Callable, NamedTuple

DecodeAll = Callable[[], list[Any]]  # decodes all images, each time anew
JPEG, PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


class Decoder(NamedTuple):
    package: str
    make: Callable[[list[bytes]], DecodeAll]  # an ImportError: the package is not there
    kinds: tuple[bytes, ...] = (JPEG, PNG)  # beginnings of files that it decodes


def is_image(data: bytes) -> bool:
    return data.startswith((JPEG, PNG))


def one_by_one(decode: Callable[[bytes], Any], images: list[bytes]) -> DecodeAll:
    return lambda: [decode(image) for image in images]


def with_pil(images: list[bytes]) -> DecodeAll:
    library, numpy = import_module("PIL.Image"), import_module("numpy")
    return one_by_one(lambda data: numpy.asarray(library.open(io.BytesIO(data)).convert("RGB")), images)


def with_torchvision(images: list[bytes]) -> DecodeAll:
    torch, library = import_module("torch"), import_module("torchvision.io")
    mode = library.ImageReadMode.RGB

    def decode(data: bytes) -> Any:
        tensor = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        return library.decode_image(tensor, mode).permute(1, 2, 0).numpy()

    return one_by_one(decode, images)


def with_torchcodec(images: list[bytes]) -> DecodeAll:
    library = import_module("torchcodec.decoders")
    if not hasattr(library, "decode_image"):
        raise RuntimeError("this version decodes no images")
    return one_by_one(lambda data: library.decode_image(data, mode="RGB").permute(1, 2, 0).numpy(), images)


def with_cv2(images: list[bytes]) -> DecodeAll:
    library, numpy = import_module("cv2"), import_module("numpy")
    library.setNumThreads(1)

    def decode(data: bytes) -> Any:
        pixels = library.imdecode(numpy.frombuffer(data, numpy.uint8), library.IMREAD_COLOR)
        return library.cvtColor(pixels, library.COLOR_BGR2RGB)

    return one_by_one(decode, images)


def with_simplejpeg(images: list[bytes]) -> DecodeAll:
    library = import_module("simplejpeg")
    return one_by_one(lambda data: library.decode_jpeg(data, colorspace="RGB"), images)


def with_kornia(images: list[bytes]) -> DecodeAll:
    """The package by which kornia.io reads files."""
    library = import_module("kornia_rs")
    home = getattr(library, "io", library)
    turbo = getattr(home, "decode_image_jpegturbo", None)
    return one_by_one(home.ImageDecoder().decode if turbo is None else lambda data: turbo(data, "rgb"), images)


def with_dali(images: list[bytes]) -> DecodeAll:
    dali, functions, numpy = import_module("nvidia.dali"), import_module("nvidia.dali.fn"), import_module("numpy")
    files = [numpy.frombuffer(image, numpy.uint8) for image in images]
    pipe = dali.Pipeline(
        batch_size=len(images), num_threads=1, device_id=None, exec_pipelined=False, exec_async=False, prefetch_queue_depth=1
    )  # fmt: skip
    with pipe:
        source = functions.external_source(source=lambda: files, device="cpu")
        pipe.set_outputs(functions.decoders.image(source, device="cpu", output_type=dali.types.RGB))
    pipe.build()

    def decode_all() -> list[Any]:
        pixels = pipe.run()[0]
        return [numpy.array(pixels.at(index)) for index in range(len(images))]

    return decode_all


DECODERS = (
    Decoder("PIL", with_pil),
    Decoder("torchvision", with_torchvision),
    Decoder("torchcodec", with_torchcodec),
    Decoder("cv2", with_cv2),
    Decoder("simplejpeg", with_simplejpeg, (JPEG,)),
    Decoder("kornia_rs", with_kornia, (JPEG,)),
    Decoder("nvidia.dali", with_dali),
)


def difference(a: Any, b: Any) -> int | None:
    """The largest of a pixel; none where the sizes differ."""
    numpy = import_module("numpy")
    if a.shape != b.shape:
        return None
    return int(numpy.abs(a.astype(numpy.int16) - b.astype(numpy.int16)).max())
