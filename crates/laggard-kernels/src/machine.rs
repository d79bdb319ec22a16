//! Which instructions the machine has, and how a kernel is made for them.

/// Makes a public function that calls the wide one of two bodies on machines with AVX2 and FMA, and the plain one elsewhere.
/// Both must give the same bits.
macro_rules! kernel {
    (
        $(#[$doc:meta])*
        $public:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)? =
            $plain:path | $wide:path;
    ) => {
        $(#[$doc])*
        #[inline]
        $public fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if $crate::machine::is_wide() {
                // SAFETY: the machine was just asked for AVX2 and FMA.
                return unsafe { $wide($($argument),*) };
            }
            $plain($($argument),*)
        }
    };
}

pub(crate) use kernel;

/// Whether the machine has AVX2, and multiplies and adds at once (FMA), which all but a few with AVX2 do.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn is_wide() -> bool {
    #[cfg(test)]
    if testing::IS_PLAIN.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

/// Loads and stores of whole registers, from and to slices that are long enough.
#[cfg(target_arch = "x86_64")]
pub(crate) mod wide {
    use std::arch::x86_64::{
        __m256d, __m256i, _mm256_loadu_pd, _mm256_loadu_si256, _mm256_storeu_pd, _mm256_storeu_si256,
    };

    use crate::LANES;

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

#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        pub(crate) static IS_PLAIN: Cell<bool> = const { Cell::new(false) };
    }

    /// Runs a test as on the machine it runs on, and as on one without AVX2.
    pub(crate) fn on_every_machine(test: impl Fn()) {
        for is_plain in [false, true] {
            IS_PLAIN.set(is_plain);
            test();
        }
    }
}
