#include "formats/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace eventloom {

std::string read_text_file(const std::string& path, std::uint64_t most) {
  const auto refuse = [&path](const std::string& why) {
    throw std::invalid_argument("cannot open '" + path + "': " + why);
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(error ? error.message() : "no such file");
  if (!std::filesystem::is_regular_file(status)) refuse("not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(std::strerror(errno));
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > most) refuse("it is larger than " + std::to_string(most) + " bytes");
  std::string text(bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  if (in.gcount() != static_cast<std::streamsize>(bytes)) refuse("it cannot be read completely");
  return text;
}

}  // namespace eventloom
