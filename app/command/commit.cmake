# Writes OUTPUT, a source with the commit of the sources in FOLDER, followed by "+" if they differ from it, and its tag;
# empty texts outside a repository. The file changes only with them.
cmake_minimum_required(VERSION 3.25)

# A user who builds these sources trusts them, even if another user owns the clone.
set(git git --no-optional-locks -c safe.directory=* -C ${FOLDER})
macro(ask_git answer)
  execute_process(COMMAND ${git} ${ARGN} OUTPUT_VARIABLE ${answer} ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
endmacro()

set(commit "")
set(tag "")
# `git archive` puts its commit and the names of it here; see .gitattributes.
set(archived "$Format:%H %D$")
# An enclosing folder may belong to another repository.
ask_git(inside rev-parse --show-prefix --is-inside-work-tree)
if(archived MATCHES "^([0-9a-f]+) (.*)$")
  string(SUBSTRING ${CMAKE_MATCH_1} 0 12 commit)
  if(CMAKE_MATCH_2 MATCHES "tag: ([^,]+)")
    set(tag ${CMAKE_MATCH_1})
  endif()
elseif(inside MATCHES "^\n?true$")
  ask_git(commit rev-parse --short=12 HEAD)
  ask_git(tag describe --tags --exact-match)
  # Compares contents, since an index with other times or owners only shows that files may differ.
  execute_process(COMMAND ${git} diff --quiet --no-ext-diff HEAD -- RESULT_VARIABLE differs ERROR_QUIET)
  if(commit AND differs)
    string(APPEND commit "+")
    set(tag "")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"app/command/commit.hpp\"

namespace eventloom {
const char* const kCommit = \"${commit}\";
const char* const kTag = \"${tag}\";
}  // namespace eventloom
")
