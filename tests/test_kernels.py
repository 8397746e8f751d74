"""Whose kernels ran: names as an H200 and an A100 have them, and profiles made up of such."""

from __future__ import annotations

import math

import msgspec
import pytest

from pytest_kernelbench.judge.kernel_names import (
    function_of,
    is_library_kernel,
    is_library_operator,
    shortened,
)
from pytest_kernelbench.judge.kernels import OUTSIDE, find
from pytest_kernelbench.judge.wire import Profiled, Ran

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)
GEMM = "nvjet_sm90_sss_64x32_64x13_1x4_v_bz_TNN"

LIBRARY_KERNELS = (
    ADD,
    GEMM,
    "Memcpy DtoD (Device -> Device)",
    "Memset (Device)",
    (
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
        "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)"
    ),
    (
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, false, false>"
        "(float*, float const*, int, int, int, bool const*, int, bool)"
    ),
    (
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
        "at::native::func_wrapper_t<float>, unsigned int, float, 4, 4> >()"
    ),
    "void at_cuda_detail::cub::DeviceScanKernel<float>(float*)",
    "ampere_sgemm_128x64_nn",
    "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nn",
    "volta_sgemm_32x128_tn",
    "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_nn",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4",
    "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(cutlass_80_simt::Params)",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)",
    "cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8",
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, float>(cublasSplitKParams<float>)",
    (
        "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, "
        "cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<float const> > >(float)"
    ),
    "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>, float> >(int)",
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float>(int)",
    "void cudnn::bn_fw_inf_1C11_kernel_NCHW<float, float, true, 1>(float, float)",
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x128x64_4x1x1",
    "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, true, false, true>(int)",
    "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >()",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void regular_fft<256u, EPT<16u>, 4u, 16u>(kernel_arguments_t<unsigned int>)",
    (
        "void cub::CUB_300001_SM_900::detail::reduce::DeviceReduceSingleTileKernel<"
        "cub::CUB_300001_SM_900::detail::reduce::policy_hub<float, unsigned int, "
        "cuda::std::plus<void> >::Policy1000, float*, "
        "float*, int, cuda::std::plus<void>, float, float>(float*, float*, int)"
    ),
)

OWN_KERNELS = (
    "bias_relu_kernel(float const*, float const*, float*, int)",
    "void bias_relu_kernel<c10::Half>(c10::Half const*, c10::Half*, int)",
    "void softmax<at::BFloat16, 1024>(at::PackedTensorAccessor64<at::BFloat16, 2>)",
    "void (anonymous namespace)::my_softmax<float>(float*, at::native::Config)",
    "_bias_relu",
    "matmul_kernel",
    "triton_softmax_kernel",
    "hopper_gemm_128x128_kernel(float*)",
    "ampere_style_matmul(float*)",
    "sm90_wgmma_matmul(CUtensorMap)",
    "fft2d_rows(float2*)",
    "void flash::flash_fwd_kernel<Kernel_traits<64> >(Params)",
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<MyShape> >(MyShape::Params)",
    "kernel_cutlass_rms_norm_tensorptrf32gmem_0",
    "main_kernel",
    "void cub::CUB_300001_SM_900::DeviceReduceKernel<float*, MaxOfAbs, float>(float*, MaxOfAbs)",
    "copy_with_cudnn_layout(float*)",
)


@pytest.mark.parametrize("name", LIBRARY_KERNELS)
def test_names_of_library_kernels(name: str) -> None:
    assert is_library_kernel(name, compiled=False)


@pytest.mark.parametrize("name", OWN_KERNELS)
def test_names_of_own_kernels(name: str) -> None:
    assert not is_library_kernel(name, compiled=True)


@pytest.mark.parametrize(
    "name", ["triton_poi_fused_add_relu_0", "triton_red_fused__softmax_1", "triton_tem_fused_mm_2"]
)
def test_inductor_names_are_the_compilers_only_where_it_ran(name: str) -> None:
    assert is_library_kernel(name, compiled=True)
    assert not is_library_kernel(name, compiled=False)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("aten::mm", True),
        ("prims::convert_element_type", True),
        ("torch.compile", True),
        ("my_ops::swish", False),
        ("atenlike::mm", False),
        ("", False),
    ],
)
def test_operators_of_torch(name: str, library: bool) -> None:  # noqa: FBT001
    assert is_library_operator(name) is library


def test_a_function_is_found_among_its_types() -> None:
    assert function_of(ADD) == "at::native::vectorized_elementwise_kernel"
    assert function_of("void (anonymous namespace)::f<int>(int)") == "{anonymous}::f"
    assert function_of("plain") == "plain"


def test_long_names_are_cut() -> None:
    assert shortened("void f(int)") == "f(int)"
    assert len(shortened(ADD)) == 60
    assert shortened(ADD).startswith("at::native::vectorized_elementwise_kernel<4")


def kernel(name: str, time_us: float, within: str = "") -> Ran:
    return Ran("kernel", name, within, time_us)


def profile(*rows: Ran, **changes: object) -> Profiled:
    facts: dict[str, object] = {
        "wall_us": 100.0,
        "outside_us": 10.0,
        "own_code": (),
        "converts": False,
    }
    return Profiled(rows=rows, **(facts | changes))  # type: ignore[arg-type]


EAGER = profile(kernel(GEMM, 100.0, "aten::mm"), kernel(ADD, 10.0, "aten::add"))


class TestOnADevice:
    def test_an_own_kernel(self) -> None:
        found = find(profile(kernel("bias_relu", 80.0)), EAGER, on_device=True)
        assert found.is_kernel
        assert (found.own, found.shares, found.note) == (1.0, {"bias_relu": 1.0}, "")

    def test_a_copy_of_the_reference(self) -> None:
        found = find(EAGER, EAGER, on_device=True)
        assert not found.is_kernel
        assert found.own == 0
        assert found.accusation.startswith(f"only library kernels ran: {GEMM} 91 %, at::native")

    def test_a_decoy_beside_the_library(self) -> None:
        rows = (kernel(GEMM, 99.0, "aten::mm"), kernel("noop", 1.0))
        found = find(profile(*rows), EAGER, on_device=True)
        assert not found.is_kernel
        assert "its own took 1 % of the device time: noop 1 %" in found.accusation

    def test_the_library_for_a_part_is_told_and_not_accused(self) -> None:
        rows = (kernel(GEMM, 92.0, "aten::mm"), kernel("bias_relu_kernel", 8.0))
        found = find(profile(*rows), EAGER, on_device=True)
        assert found.is_kernel
        assert found.note == (
            f"92 % of device time in library kernels: {GEMM} 92 %; own: bias_relu_kernel 8 %"
        )

    def test_cublas_without_an_operator(self) -> None:
        other = "nvjet_sm90_sss_128x64_64x5_2x1_v_bz_NNN"
        assert not find(profile(kernel(other, 50.0)), EAGER, on_device=True).is_kernel

    def test_a_strange_name_below_an_operator_is_the_librarys(self) -> None:
        rows = (kernel("some_new_library_thing", 50.0, "aten::mm"),)
        assert not find(profile(*rows), EAGER, on_device=True).is_kernel

    def test_a_strange_name_that_the_reference_runs_too(self) -> None:
        reference = profile(kernel("some_new_library_thing", 50.0, "aten::mm"))
        mine = profile(kernel("some_new_library_thing", 50.0))
        assert not find(mine, reference, on_device=True).is_kernel

    def test_own_operators_launch_own_kernels(self) -> None:
        found = find(profile(kernel("swish", 50.0, "my_ops::swish")), EAGER, on_device=True)
        assert found.is_kernel

    def test_what_torch_compile_made(self) -> None:
        rows = (kernel("triton_poi_fused_add_0", 50.0), Ran("compiled", "torch.compile", "", 20.0))
        assert not find(profile(*rows), EAGER, on_device=True).is_kernel
        assert find(profile(rows[0]), EAGER, on_device=True).is_kernel

    def test_own_kernel_within_torch_compile(self) -> None:
        rows = (kernel("_swish_0", 50.0), Ran("compiled", "torch.compile", "", 20.0))
        assert find(profile(*rows), EAGER, on_device=True).is_kernel

    def test_a_forward_in_which_no_kernel_was_seen_shows_none_of_its_own(self) -> None:
        found = find(profile(), EAGER, on_device=True)
        assert not found.is_kernel
        assert "saw none" in found.accusation

    def test_a_blind_profiler_accuses_nobody(self) -> None:
        found = find(profile(note="no CUPTI here"), EAGER, on_device=True)
        assert found.is_kernel
        assert found.own is None
        assert found.note.startswith("kernels not known")

    def test_a_profiler_that_is_blind_for_the_reference(self) -> None:
        found = find(profile(kernel(GEMM, 50.0)), profile(), on_device=True)
        assert found.is_kernel
        assert "none of the reference's" in found.note

    def test_the_largest_eight_are_listed(self) -> None:
        rows = tuple(kernel(f"k{number}", 20.0 - number) for number in range(12))
        found = find(profile(*rows, kernel("", 5.0)), EAGER, on_device=True)
        assert list(found.shares) == [*(f"k{number}" for number in range(8)), "other"]
        assert math.isclose(sum(found.shares.values()), 1.0, abs_tol=1e-3)

    @pytest.mark.parametrize("lie", [math.nan, math.inf, -5.0])
    def test_times_that_are_none(self, lie: float) -> None:
        rows = (kernel(GEMM, 50.0, "aten::mm"), kernel("noop", lie))
        assert not find(profile(*rows), EAGER, on_device=True).is_kernel


MM = Ran("operator", "aten::mm", "", 80.0)
SO = ("/cache/x/fast.so",)
REFERENCE = profile(MM)


class TestOnTheHost:
    def test_a_copy_of_the_reference_at_any_size(self) -> None:
        for outside_us in (1.0, 1e6):
            found = find(profile(MM, outside_us=outside_us), REFERENCE, on_device=False)
            assert not found.is_kernel
            assert "no compiled code of its own ran" in found.accusation
            assert OUTSIDE in found.shares

    def test_numpy(self) -> None:
        mine = profile(Ran("operator", "aten::detach", "", 1.0), outside_us=900.0, converts=True)
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_torch_compile(self) -> None:
        mine = profile(Ran("compiled", "torch.compile", "", 50.0))
        found = find(mine, REFERENCE, on_device=False)
        assert not found.is_kernel
        assert next(iter(found.shares)) == "torch.compile"

    def test_an_extension(self) -> None:
        mine = profile(Ran("call", "bias_relu", "", 70.0), own_code=SO)
        found = find(mine, REFERENCE, on_device=False)
        assert found.is_kernel
        assert found.note == ""

    def test_an_extension_that_calls_the_library(self) -> None:
        rows = (Ran("operator", "aten::add", "", 99.5), Ran("call", "fused", "", 0.5))
        found = find(profile(*rows, own_code=SO), REFERENCE, on_device=False)
        assert not found.is_kernel
        assert "fused" in found.accusation

    def test_an_extension_that_is_loaded_and_not_called(self) -> None:
        mine = profile(Ran("operator", "aten::mm", "", 99_000.0), own_code=SO, outside_us=40.0)
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_code_of_the_reference_is_not_the_solutions(self) -> None:
        reference = profile(MM, own_code=SO)
        assert not find(profile(MM, own_code=SO), reference, on_device=False).is_kernel

    def test_what_is_called_through_ctypes_is_time_outside(self) -> None:
        mine = profile(own_code=SO, outside_us=500.0)
        assert find(mine, REFERENCE, on_device=False).is_kernel

    def test_a_small_share_says_nothing_where_others_had_the_processors(self) -> None:
        """Threads of the library's operators wait for their turn, each time."""
        mine = (MM, Ran("call", "relu_softmax", "", 0.5))
        calm = profile(*mine, own_code=SO, crowded=0.1)
        assert "only library kernels ran" in find(calm, REFERENCE, on_device=False).accusation
        crowded = find(profile(*mine, own_code=SO, crowded=0.47), REFERENCE, on_device=False)
        assert crowded.is_kernel
        assert crowded.note.startswith("kernels not known: other processes took 47% of")
        assert "relu_softmax" in crowded.note
        assert crowded.shares

    def test_what_never_ran_did_not_run_on_a_busy_machine_either(self) -> None:
        for code in ((), SO):
            mine = profile(MM, own_code=code, outside_us=0.0, crowded=0.9)
            assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_a_decoy_does_not_live_on_pythons_time(self) -> None:
        decoy = Ran("call", "noop", "", 0.5)
        mine = profile(MM, decoy, own_code=SO, outside_us=25.0)
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_nor_on_that_of_numpy(self) -> None:
        decoy = Ran("call", "noop", "", 0.5)
        mine = profile(MM, decoy, own_code=SO, outside_us=900.0, converts=True)
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_an_interruption_is_no_kernel(self) -> None:
        rows = (Ran("operator", "aten::mm", "", 900.0), Ran("call", "noop", "", 0.5))
        mine = profile(*rows, own_code=SO, outside_us=1200.0)
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_threads_of_its_own_beside_a_traced_call(self) -> None:
        mine = profile(MM, Ran("call", "start", "", 0.5), own_code=SO, outside_us=9000.0)
        assert find(mine, REFERENCE, on_device=False).is_kernel

    def test_an_operator_of_its_own(self) -> None:
        mine = profile(Ran("operator", "my_ops::swish", "", 30.0), own_code=SO)
        assert find(mine, REFERENCE, on_device=False).is_kernel

    def test_an_operator_in_python_is_no_kernel(self) -> None:
        mine = profile(MM, Ran("operator", "my_ops::swish", "", 30.0))
        assert not find(mine, REFERENCE, on_device=False).is_kernel

    def test_triton_under_the_interpreter(self) -> None:
        mine = profile(Ran("triton", "_bias_relu", "", 9000.0))
        assert find(mine, REFERENCE, on_device=False).is_kernel


def test_a_profile_is_bounded_where_it_comes_in() -> None:
    """Searching a name takes as long as the square of its length."""
    decoder = msgspec.msgpack.Decoder(Profiled)
    for rows in ((kernel("a" * 401, 1.0),), (kernel("a", 1.0),) * 251):
        with pytest.raises(msgspec.ValidationError):
            decoder.decode(msgspec.msgpack.encode(profile(*rows)))
    assert decoder.decode(msgspec.msgpack.encode(profile(kernel("a" * 400, 1.0))))
