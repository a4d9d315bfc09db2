#pragma once

namespace eventloom {

/// The commit from which the program was built, "+" after it where sources were changed; empty where they were in no
/// repository. Made at build time: see commit.cmake.
extern const char* const kCommit;
/// The tag of that commit; empty where it has none or sources were changed.
extern const char* const kTag;

}  // namespace eventloom
