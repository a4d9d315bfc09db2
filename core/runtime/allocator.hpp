#pragma once

namespace eventloom {

/// Call once, at the start. Keeps freed memory in the process: the data path allocates and frees its buffers
/// repeatedly, and the kernel would clear each page again. An MBS server spent half its time there.
void keep_freed_memory();

}  // namespace eventloom
