// Which symbols libkiln.so shows: those marked KILN_API, and nothing else.
#pragma once

#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif
