// Turns index tiles that count up into slices.
//
// Does: a load or store that gathers by tiles `s + iota(L)`, each along an axis of its own and in order, becomes the
// slice `s :+ L`. Tiles that facts do not prove to count without wrapping stay. Requires: a verified kernel.
// Guarantees: performance contract 11 (c), also for lifted index expressions. The starts are plain scalar arithmetic,
// which fold_constants simplifies. A tile that counts and stays has a shortfall.
#pragma once

#include "ir/kernel.h"
#include "ir/passes/shortfall.h"

namespace kiln::ir {

void slice_gathers(Kernel& kernel, Shortfalls& shortfalls);

}  // namespace kiln::ir
