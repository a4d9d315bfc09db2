#include <gtest/gtest.h>

#include "app/run/output_settings.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

std::vector<DefinitionOutput> parse(const std::vector<std::string>& given) {
  return parse_define_options(given, "/data/run.h5");
}

std::string refusal_of(const std::vector<std::string>& given) {
  try {
    parse(given);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(DefineOption, OneWithoutANameIsTheRun) {
  const auto options = parse({"gap:25ns,4"});
  ASSERT_EQ(options.size(), 1U);
  EXPECT_EQ(options[0].define.name, "");
  EXPECT_EQ(options[0].define.text, "gap:25ns,4");
  EXPECT_EQ(options[0].file, "/data/run.h5");
}

TEST(DefineOption, NamedOnesHaveRunFilesOfTheirOwn) {
  const auto options = parse({"muon=coincidence:50ns,A>=1 && B==2", "n_2=tag"});
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].define.name, "muon");
  EXPECT_EQ(options[0].define.text, "coincidence:50ns,A>=1 && B==2");
  EXPECT_EQ(options[0].file, "/data/run.muon.h5");
  EXPECT_EQ(options[0].define.given(), "muon=coincidence:50ns,A>=1 && B==2");
  EXPECT_EQ(options[1].define.text, "tag");
  EXPECT_EQ(options[1].file, "/data/run.n_2.h5");
  EXPECT_EQ(parse_define_options({"a=tag"}, "out/x").front().file, "out/x.a.h5");
}

TEST(DefineOption, EqualsSignsOfConditionsAreNoNames) {
  EXPECT_EQ(parse({"coincidence:50ns,A==1"}).front().define.name, "");
}

TEST(DefineOption, NamesAreCheckedAndDistinct) {
  EXPECT_NE(refusal_of({"=gap:5,2"}).find("the name before = is missing"), std::string::npos);
  EXPECT_NE(refusal_of({"1a=gap:5,2"}).find("letter"), std::string::npos);
  // Parts of a run have names like this one.
  EXPECT_NE(refusal_of({"part-0000-0000=gap:5,2"}).find("is no name"), std::string::npos);
  EXPECT_NE(refusal_of({"../a=gap:5,2"}).find("is no name"), std::string::npos);
  EXPECT_NE(refusal_of({std::string(33, 'a') + "=gap:5,2"}).find("is no name"), std::string::npos);
  EXPECT_EQ(refusal_of({std::string(32, 'a') + "=gap:5,2"}), "");
  EXPECT_NE(refusal_of({"a=gap:5,2", "gap:7,2"}).find("each needs a name, as in --define muon=gap:7,2"),
            std::string::npos);
  EXPECT_NE(refusal_of({"a=gap:5,2", "a=tag"}).find("'a' is taken by 'a=gap:5,2'"), std::string::npos);
}

}  // namespace
}  // namespace eventloom
