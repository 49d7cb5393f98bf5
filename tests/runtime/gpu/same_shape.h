// Whether two functions are called the same way, though their declarations name other types: as many parameters,
// pointers where the other has pointers, numbers of the same size where the other has numbers.
#pragma once

#include <type_traits>

namespace kiln::test {

template <class A, class B>
constexpr bool same_passing() {
    if constexpr (std::is_void_v<A> || std::is_void_v<B>) {
        return std::is_void_v<A> == std::is_void_v<B>;
    } else {
        return std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B) &&
               (std::is_integral_v<A> || std::is_enum_v<A>) == (std::is_integral_v<B> || std::is_enum_v<B>);
    }
}

template <class A, class B>
struct Shapes {
    static constexpr bool same = false;
};
template <class R, class S, class... A, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Shapes<R (*)(A...), S (*)(B...)> {
    static constexpr bool same = same_passing<R, S>() && (same_passing<A, B>() && ...);
};

template <class A, class B>
constexpr bool same_shape() {
    return Shapes<A, B>::same;
}

}  // namespace kiln::test
