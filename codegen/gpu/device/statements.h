// What statements of generated source call: vectors, loops, exchanges and atomics, on top of the dialect's words.

// Elements that move at once.
template <class T, int N>
struct alignas(sizeof(T) * N) kiln_pack {
    T items[N];
};

// The bits of a value in words of 32.
template <class T>
union kiln_words {
    T value;
    unsigned words[(sizeof(T) + 3) / 4];
};

template <class T>
KILN_DEVICE T kiln_zero() {
    return T();
}

KILN_DEVICE int kiln_least(int a, int b) {
    return a < b ? a : b;
}

// How many of the next `most` places lie below the size.
template <class T>
KILN_DEVICE unsigned kiln_places_inside(T at, T size, unsigned most) {
    return at >= size ? 0u : size - at < most ? (unsigned)(size - at) : most;
}

KILN_DEVICE long long kiln_clamp(long long value, long long lower, long long upper) {
    value = value < lower ? lower : value;
    return value > upper ? upper : value;
}

// How often a loop runs; exact for all bounds.
KILN_DEVICE unsigned kiln_trips_32(int lower, int upper, int step) {
    return step > 0 && lower < upper ? ((unsigned)upper - (unsigned)lower - 1u) / (unsigned)step + 1u : 0u;
}

KILN_DEVICE unsigned long long kiln_trips_64(long long lower, long long upper, long long step) {
    return step > 0 && lower < upper
               ? ((unsigned long long)upper - (unsigned long long)lower - 1ull) / (unsigned long long)step + 1ull
               : 0ull;
}

template <class T>
KILN_DEVICE T kiln_shuffle_xor(T value, int mask) {
    kiln_words<T> box;
    box.words[sizeof(box) / 4 - 1] = 0;
    box.value = value;
    for (unsigned& word : box.words) word = kiln_word_xor(word, mask);
    return box.value;
}

template <class T>
KILN_DEVICE T kiln_shuffle_up(T value, int distance) {
    kiln_words<T> box;
    box.words[sizeof(box) / 4 - 1] = 0;
    box.value = value;
    for (unsigned& word : box.words) word = kiln_word_up(word, distance);
    return box.value;
}

// Chooses a function by the size of a type.
template <int N>
struct kiln_bytes {};

// Whatever has no instruction of its own: compare and swap until nobody came between. Elements of 2 bytes are half of a
// word.
template <class T, class Update>
KILN_DEVICE T kiln_swap(T* address, Update change, kiln_bytes<8>) {
    unsigned long long* word = (unsigned long long*)address;
    unsigned long long seen = *word;
    while (true) {
        const unsigned long long next = __builtin_bit_cast(unsigned long long, change(__builtin_bit_cast(T, seen)));
        const unsigned long long found = kiln_word_cas(word, seen, next);
        if (found == seen) return __builtin_bit_cast(T, seen);
        seen = found;
    }
}
template <class T, class Update>
KILN_DEVICE T kiln_swap(T* address, Update change, kiln_bytes<4>) {
    unsigned* word = (unsigned*)address;
    unsigned seen = *word;
    while (true) {
        const unsigned next = __builtin_bit_cast(unsigned, change(__builtin_bit_cast(T, seen)));
        const unsigned found = kiln_word_cas(word, seen, next);
        if (found == seen) return __builtin_bit_cast(T, seen);
        seen = found;
    }
}
template <class T, class Update>
KILN_DEVICE T kiln_swap(T* address, Update change, kiln_bytes<2>) {
    const unsigned long long place = (unsigned long long)address;
    unsigned* word = (unsigned*)(place & ~3ull);
    const unsigned shift = (unsigned)(place & 2ull) * 8u;
    unsigned seen = *word;
    while (true) {
        const T old = __builtin_bit_cast(T, (unsigned short)(seen >> shift));
        const unsigned half = __builtin_bit_cast(unsigned short, change(old));
        const unsigned found = kiln_word_cas(word, seen, (seen & ~(0xffffu << shift)) | half << shift);
        if (found == seen) return old;
        seen = found;
    }
}

template <class T, class Update>
KILN_DEVICE T kiln_atomic_update(T* address, Update change) {
    return kiln_swap(address, change, kiln_bytes<sizeof(T)>());
}

template <class T>
KILN_DEVICE T kiln_atomic_exchange(T* address, T value) {
    return kiln_atomic_update(address, [&](T) { return value; });
}

// Compares bits.
template <class T>
KILN_DEVICE T kiln_atomic_cas(T* address, T expected, T value) {
    return kiln_atomic_update(address, [&](T old) {
        kiln_words<T> a, b;
        a.value = old;
        b.value = expected;
        bool same = true;
        for (int i = 0; i < (int)(sizeof(T) / 4); ++i) same = same && a.words[i] == b.words[i];
        return same ? value : old;
    });
}
