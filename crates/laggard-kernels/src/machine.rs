//! The instruction sets of the machine, and the macro that selects the body of a kernel.

/// Components in a block.
pub const LANES: usize = 16;

/// Makes a function that calls the widest body that the machine supports: plain, wide, or widest, which is optional. All must
/// give the same bits.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        $public:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? =
            $plain:path | $wide:path | $widest:path;
    ) => {
        $(#[$doc])*
        #[inline]
        $public fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            match $crate::machine::width() {
                // SAFETY: `width` checked that the machine has these instructions.
                $crate::machine::Width::Widest => return unsafe { $widest($($argument),*) },
                // SAFETY: as before.
                $crate::machine::Width::Wide => return unsafe { $wide($($argument),*) },
                $crate::machine::Width::Plain => (),
            }
            $plain($($argument),*)
        }
    };
    (
        $(#[$doc:meta])*
        $public:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? =
            $plain:path | $wide:path;
    ) => {
        kernel! {
            $(#[$doc])*
            $public fn $name($($argument: $kind),*) $(-> $result)? = $plain | $wide | $wide;
        }
    };
}

pub(crate) use kernel;

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// Portable.
    Plain,
    /// AVX2, FMA and POPCNT.
    Wide,
    /// Also AVX-512 F, BW, DQ and VL, as in the first servers with AVX-512.
    Widest,
}

#[cfg(target_arch = "x86_64")]
static WIDTH: std::sync::LazyLock<Width> = std::sync::LazyLock::new(|| {
    use std::arch::is_x86_feature_detected as has;

    let is_wide = has!("avx2") && has!("fma") && has!("popcnt");
    let is_widest = is_wide && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    match (is_widest, is_wide) {
        (true, _) => Width::Widest,
        (_, true) => Width::Wide,
        _ => Width::Plain,
    }
});

#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn width() -> Width {
    #[cfg(test)]
    return testing::WIDEST.get().min(*WIDTH);
    #[cfg(not(test))]
    *WIDTH
}

/// Loads and stores of whole registers, from and to slices that are long enough.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    use std::arch::x86_64::{
        __m256d, __m256i, _mm256_loadu_pd, _mm256_loadu_si256, _mm256_storeu_pd, _mm256_storeu_si256,
    };

    use super::LANES;

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn load(lanes: &[u16; LANES]) -> __m256i {
        // SAFETY: sixteen numbers of 16 bits are as long as the register; it need not be aligned.
        unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn store(lanes: &mut [u16; LANES], register: __m256i) {
        // SAFETY: as in `load`.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), register) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn load_four(values: &[f64; 4]) -> __m256d {
        // SAFETY: four numbers of 64 bits are as long as the register; it need not be aligned.
        unsafe { _mm256_loadu_pd(values.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn store_four(values: &mut [f64; 4], register: __m256d) {
        // SAFETY: as in `load_four`.
        unsafe { _mm256_storeu_pd(values.as_mut_ptr(), register) }
    }
}

/// A load for the widest registers.
#[cfg(target_arch = "x86_64")]
pub(crate) mod widest {
    use std::arch::x86_64::{__m512d, _mm512_loadu_pd};

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn load_eight(values: &[f64; 8]) -> __m512d {
        // SAFETY: eight numbers of 64 bits are as long as the register; it need not be aligned.
        unsafe { _mm512_loadu_pd(values.as_ptr()) }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    #[cfg(target_arch = "x86_64")]
    use super::Width;

    #[cfg(target_arch = "x86_64")]
    thread_local! {
        pub(crate) static WIDEST: std::cell::Cell<Width> = const { std::cell::Cell::new(Width::Widest) };
    }

    /// Runs a test with all instruction sets up to that of the machine.
    pub(crate) fn on_every_machine(test: impl Fn()) {
        #[cfg(target_arch = "x86_64")]
        for widest in [Width::Widest, Width::Wide, Width::Plain] {
            WIDEST.set(widest);
            test();
        }
        #[cfg(not(target_arch = "x86_64"))]
        test();
    }
}
