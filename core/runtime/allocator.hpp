#pragma once

namespace eventloom {

/// Call once, at the start. Freed memory stays with the process: the buffers of the data path come and go, and the
/// kernel would clear each of their pages anew. An MBS server spent half its time there.
void keep_freed_memory();

}  // namespace eventloom
