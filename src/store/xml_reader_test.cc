// SPDX-License-Identifier: Apache-2.0
// XML as programs write it is read; what is cut, hostile or not well-formed is refused with its line.
#include "store/xml_reader.h"

#include <gtest/gtest.h>

#include "base/strings.h"

namespace gapless::internal {
namespace {

// "<a x=1 <b b> a>": what begins and ends; or the error.
std::string Events(std::string_view text, std::string_view attribute = "x") {
  XmlReader xml(text);
  std::string out;
  while (true) {
    const auto event = xml.Next();
    if (!event) return StrCat("error: ", event.error().message);
    if (*event == XmlReader::Event::kEnd) return out;
    if (*event == XmlReader::Event::kClose) {
      out += StrCat(xml.name(), "> ");
      continue;
    }
    const auto value = xml.Attribute(attribute);
    out += StrCat("<", xml.name(), value ? StrCat(" x=", *value) : "", " ");
  }
}

TEST(XmlReader, ReadsElementsAndAttributes) {
  EXPECT_EQ(
      Events("<?xml version='1.0' encoding=\"UTF-8\"?>\n<!-- a -->\n<a x = '1'>text<b/><c x=\"2\">&lt;</c></a>\n"),
      "<a x=1 <b b> <c x=2 c> a> ");
  EXPECT_EQ(Events("<a><![CDATA[<no> & ]]></a>"), "<a a> ");
}

TEST(XmlReader, ResolvesReferences) {
  EXPECT_EQ(Events("<a x='&lt;&amp;&quot;&apos;&gt;&#65;&#xE9;&#x1F600;'/>"), "<a x=<&\"'>Aé😀 a> ");
  for (const char* bad : {"&", "&x;", "&#0;", "&#xD800;", "&#x110000;", "&#;", "&#1a;", "&lt", "&xxe;"})
    EXPECT_NE(Events(StrCat("<a x='", bad, "'/>")).find("a reference to nothing"), std::string::npos) << bad;
}

TEST(XmlReader, RefusesWhatIsNotWellFormed) {
  for (const char* bad : {"",
                          " ",
                          "text",
                          "<a>",
                          "<a",
                          "<a x",
                          "<a x=",
                          "<a x='",
                          "<a x=1/>",
                          "<a></b>",
                          "</a>",
                          "<a/><b/>",
                          "<a/>text",
                          "<a x='1' x='2'/>",
                          "<a x='1'y='2'/>",
                          "<a x='<'/>",
                          "<1/>",
                          "< a/>",
                          "<a><!-- ",
                          "<a><![CDATA[ ",
                          "<?xml ",
                          "<a>\xFF</a>",
                          "<a x='\xC0\x80'/>",
                          "<a>&no;</a>",
                          "<![CDATA[x]]><a/>"})
    EXPECT_TRUE(Events(bad).starts_with("error: this is no valid XML")) << bad << ": " << Events(bad);
  EXPECT_NE(Events("<a>\n\n</b>").find("in line 3"), std::string::npos);
}

TEST(XmlReader, RefusesWhatMakesXmlDangerous) {
  const std::string_view laughs = "<!DOCTYPE a [<!ENTITY b \"ha\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";
  EXPECT_NE(Events(laughs).find("document type"), std::string::npos);
  EXPECT_NE(Events("<?xml version='1.0' encoding='UTF-16'?><a/>").find("encoding"), std::string::npos);
  std::string deep, close;
  for (int i = 0; i < 65; ++i) deep += "<a>", close += "</a>";
  EXPECT_NE(Events(deep + close).find("64 deep"), std::string::npos);
}

// Every beginning of a valid file is refused.
TEST(XmlReader, RefusesFilesThatAreCut) {
  const std::string_view whole = "<?xml version='1.0'?><a x='1'><b>t&amp;</b><!-- c --><c/></a>";
  EXPECT_FALSE(Events(whole).starts_with("error"));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_TRUE(Events(whole.substr(0, length)).starts_with("error")) << whole.substr(0, length);
}

}  // namespace
}  // namespace gapless::internal
