// SPDX-License-Identifier: Apache-2.0
// Splits Python frames into path, line and function, separates user code from libraries, and decodes JSON escapes.
//
// Recorders do not say if a frame is the user's, so its path has to show it. A file is a library's if its
// path has the parts that installations have, or begins like a file of Python's standard library. A user's file of
// such a name is taken for a library's, and its lines are not reported; the lists leave out names that programs
// often use.
#include "ingest/readers/kineto/frames.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

#include "base/strings.h"
#include "trace/own_code.h"

namespace gapless::internal::kineto {
namespace {

// Recorders write frames as "path(line): function", with the path below site-packages where it is there.
constexpr std::string_view kLibraryParts[] = {
    "<built-in",    "<frozen",   "<string>",      "nn.Module: ",  "torch/",     "numpy/",       "multiprocessing/",
    "threading.py", "runpy.py",  "contextlib.py", "functools.py", "queue.py",   "selectors.py", "PIL/",
    "torchvision/", "importlib", "site.py",       "typing.py",    "inspect.py", "socket.py",    "abc.py"};

// Files of Python's own library, whose path recorders cut to what is below its folder. Names that programs give their
// own files, too (profile.py, test/, trace.py), are left out.
constexpr std::string_view kStandardLibrary[] = {"_collections_abc.py",
                                                 "_strptime.py",
                                                 "_weakrefset.py",
                                                 "argparse.py",
                                                 "ast.py",
                                                 "asyncio/",
                                                 "base64.py",
                                                 "bisect.py",
                                                 "bz2.py",
                                                 "cProfile.py",
                                                 "codecs.py",
                                                 "collections/",
                                                 "concurrent/",
                                                 "contextvars.py",
                                                 "configparser.py",
                                                 "copy.py",
                                                 "copyreg.py",
                                                 "csv.py",
                                                 "ctypes/",
                                                 "dataclasses.py",
                                                 "datetime.py",
                                                 "decimal.py",
                                                 "dis.py",
                                                 "email/",
                                                 "encodings/",
                                                 "enum.py",
                                                 "fnmatch.py",
                                                 "fractions.py",
                                                 "genericpath.py",
                                                 "gettext.py",
                                                 "glob.py",
                                                 "gzip.py",
                                                 "hashlib.py",
                                                 "heapq.py",
                                                 "hmac.py",
                                                 "html/",
                                                 "http/",
                                                 "io.py",
                                                 "json/",
                                                 "keyword.py",
                                                 "linecache.py",
                                                 "locale.py",
                                                 "logging/",
                                                 "lzma.py",
                                                 "ntpath.py",
                                                 "numbers.py",
                                                 "opcode.py",
                                                 "operator.py",
                                                 "os.py",
                                                 "pathlib.py",
                                                 "pickle.py",
                                                 "platform.py",
                                                 "posixpath.py",
                                                 "pprint.py",
                                                 "pstats.py",
                                                 "random.py",
                                                 "re.py",
                                                 "re/",
                                                 "reprlib.py",
                                                 "secrets.py",
                                                 "shutil.py",
                                                 "signal.py",
                                                 "sqlite3/",
                                                 "sre_compile.py",
                                                 "sre_parse.py",
                                                 "ssl.py",
                                                 "stat.py",
                                                 "string.py",
                                                 "struct.py",
                                                 "subprocess.py",
                                                 "sysconfig.py",
                                                 "tarfile.py",
                                                 "tempfile.py",
                                                 "textwrap.py",
                                                 "tokenize.py",
                                                 "traceback.py",
                                                 "types.py",
                                                 "unittest/",
                                                 "urllib/",
                                                 "uuid.py",
                                                 "warnings.py",
                                                 "weakref.py",
                                                 "xml/",
                                                 "zipfile.py"};

bool IsLibrary(std::string_view frame) {
  if (IsOfGapless(frame) || IsInstalled(frame)) return true;
  for (const std::string_view name : kStandardLibrary)
    if (frame.starts_with(name)) return true;
  for (const std::string_view part : kLibraryParts) {
    const size_t at = frame.find(part);
    if (at == std::string_view::npos) continue;
    // "torch/…" as a path of its own or a folder of a path, not "mytorch/…".
    if (at == 0 || frame[at - 1] == '/' || part.front() == '/' || part.front() == '<') return true;
  }
  return false;
}

// A Frame is a place in Python code. All parts are empty for library code; the function is empty for a plain
// place.
struct Frame {
  std::string_view file, line, function;
};

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Reads "a.py(3): f" or "a.py:3"; no file if `text` is neither, or library code.
Frame FrameOf(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (IsLibrary(text)) return {};
  Frame frame;
  if (const size_t close = text.find("): "); close != std::string_view::npos) {
    const size_t open = text.rfind('(', close);
    if (open == std::string_view::npos) return {};
    frame = {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close + 3)};
  } else if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    frame = {text.substr(0, colon), text.substr(colon + 1), {}};
  }
  return frame.file.empty() || !IsNumber(frame.line) ? Frame() : frame;
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Reads four hexadecimal digits at `at`; returns false if there are fewer.
bool HexAt(std::string_view text, size_t at, uint32_t& code) {
  if (at + 4 > text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  return error == std::errc() && end == text.data() + at + 4;
}

// The code point of the escape whose 'u' is at `at`, moving `at` behind it; a lone surrogate becomes U+FFFD.
bool UnicodeEscape(std::string_view text, size_t& at, std::string& out) {
  uint32_t code = 0, low = 0;
  if (!HexAt(text, at + 1, code)) return false;
  at += 5;
  if (code >= 0xD800 && code < 0xDC00 && text.substr(at, 2) == "\\u" && HexAt(text, at + 2, low) && low >= 0xDC00 &&
      low < 0xE000) {
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    at += 6;
  }
  AppendUtf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
  return true;
}

constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";

// Did the recorder write backslashes as they are? Kineto does on Windows: "D:\new\train.py" is no line break in "D:"
// and no tab. It shows by an escape that JSON does not have, or by a drive whose backslash stands alone.
bool WritesBackslashesAsTheyAre(std::string_view text) {
  for (size_t at = 0; (at = text.find('\\', at)) != std::string_view::npos && at + 1 < text.size(); at += 2) {
    const char next = text[at + 1];
    if (next != 'u' && kEscapes.find(next) == std::string_view::npos) return true;
    if (at > 0 && text[at - 1] == ':' && next != '\\' && next != '/' && next != '"') return true;
  }
  return false;
}

}  // namespace

// A generator expression runs where it is asked for its next value: that line says more.
std::string UserLine(std::string_view frames) {
  std::string in_generator;
  while (!frames.empty()) {
    const size_t end = frames.find(';');
    if (const Frame frame = FrameOf(frames.substr(0, end)); !frame.file.empty()) {
      std::string line = StrCat(frame.file, ':', frame.line);
      if (frame.function != "<genexpr>") return line;
      if (in_generator.empty()) in_generator = std::move(line);
    }
    if (end == std::string_view::npos) break;
    frames.remove_prefix(end + 1);
  }
  return in_generator;
}

std::string UserFunction(std::string_view name) {
  const Frame frame = FrameOf(name);
  if (frame.file.empty() || frame.function.empty()) return {};
  if (frame.function == "<module>") return StrCat(frame.function, " (", frame.file, ')');
  return frame.function.front() == '<' ? std::string() : StrCat(frame.function, "() (", frame.file, ')');
}

std::string Unescape(std::string_view text) {
  if (WritesBackslashesAsTheyAre(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at++];
      continue;
    }
    const char c = text[++at];
    if (const size_t known = kEscapes.find(c); known != std::string_view::npos) {
      out += kMeanings[known];
      ++at;
    } else if (c != 'u' || !UnicodeEscape(text, at, out)) {
      out += '\\';
    }
  }
  return out;
}

// Starts at -2, since -1 stands for other things (ranges of no thread, device unknown).
int64_t StandIn(std::string_view text) {
  return -2 - static_cast<int64_t>(XXH3_64bits(text.data(), text.size()) >> 33);
}

}  // namespace gapless::internal::kineto
