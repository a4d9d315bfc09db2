#include "app/command/command_words.hpp"

#include <boost/program_options/parsers.hpp>
#include <boost/token_functions.hpp>

#include "core/runtime/error.hpp"
#include "core/runtime/subprocess.hpp"

namespace eventloom {

std::vector<std::string> split_command(const std::string& text, const std::string& option) {
  namespace po = boost::program_options;
  std::vector<std::string> words;
  try {
    words = po::split_unix(text);
    // If a quote is still open, it absorbs the appended word.
    if (po::split_unix(text + " x").back() != "x") throw boost::escaped_list_error("a quote is not closed");
  } catch (const boost::escaped_list_error& e) {
    throw UserError(option + ": " + e.what() + "; use quotes around words with blanks, and \\\\ for \\");
  }
  if (words.empty() || words.front().empty()) throw UserError(option + " must name a program and its arguments");
  return words;
}

std::string required_program(const std::string& name, const std::string& option) {
  if (auto program = find_program(name)) return *program;
  throw UserError(option + ": there is no program '" + name + "' that can be executed");
}

}  // namespace eventloom
