# Makes OUTPUT, a source with the commit of the sources in FOLDER, "+" after it where they differ from it; an empty text
# where they are in no repository. The file changes only with the commit.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${FOLDER} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit ERROR_QUIET
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(commit)
  execute_process(COMMAND git -C ${FOLDER} diff-index --quiet HEAD -- RESULT_VARIABLE differs ERROR_QUIET)
  if(differs)
    string(APPEND commit "+")
  endif()
endif()
set(source "#include \"app/commit.hpp\"\n\nnamespace eventloom {\n")
string(APPEND source "const char* const kCommit = \"${commit}\";\n}  // namespace eventloom\n")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${source}" @ONLY)
