/* SPDX-License-Identifier: Apache-2.0
 * gapless for C, and for languages that call C: open recordings, take tables as Arrow streams, ask for reports.
 *
 *   gapless_run* run = gapless_run_new();
 *   gapless_error error = {0};
 *   const char* paths[] = {"trace.json.gz"};
 *   if (gapless_open(run, paths, 1, NULL, &error) != 0) {
 *     fprintf(stderr, "%s\n", error.message);
 *     gapless_error_release(&error);
 *   }
 *   gapless_table* table;
 *   struct ArrowArrayStream stream;
 *   gapless_query(run, "SELECT name, sum(dur_ns) FROM gpu_op GROUP BY name", &table, &error);
 *   gapless_table_export(table, NULL, 0, &stream, &error);
 *   …
 *   gapless_table_free(table);
 *   gapless_run_free(run);
 *
 * Every function returns 0, or the exit status that the program `gapless` would end with; then `error`, if it is given,
 * says what went wrong and is to be released. Texts are UTF-8, ended by a zero. No function throws. A run may be used
 * from several threads at once; only opening and freeing it must be alone. Tables, streams and texts live longer than
 * what they were taken from. */
#ifndef GAPLESS_C_H
#define GAPLESS_C_H

#include <stddef.h>
#include <stdint.h>

#include "gapless/arrow_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GAPLESS_C_API __attribute__((visibility("default")))

typedef struct gapless_run gapless_run;
typedef struct gapless_table gapless_table;

enum {
  GAPLESS_USAGE = 2,       /* a question that cannot be asked: an unknown name, a fault in a statement */
  GAPLESS_INPUT = 3,       /* a file that cannot be read or holds nothing of use */
  GAPLESS_ENVIRONMENT = 4, /* the machine lacks something */
  GAPLESS_COMMAND = 5,     /* a command that was run failed */
  GAPLESS_INTERRUPTED = 130
};

/* One sentence; the file, "file:byte 123" or the place in a statement; what the user can do. Empty where there is
 * nothing to say. The texts may come from a recording: escape them where that matters. */
typedef struct gapless_error {
  const char* message;
  const char* place;
  const char* hint;
  void* private_data;
} gapless_error;

/* Called now and then while reading, from any thread; bytes_total is 0 while it is unknown. */
typedef void (*gapless_progress)(void* data, const char* path, uint64_t bytes_done, uint64_t bytes_total);

typedef struct gapless_open_options {
  const int64_t* ranks; /* only these; none: all */
  size_t rank_count;
  size_t threads;      /* 0: as many as the machine allows, or GAPLESS_THREADS */
  int32_t no_cache;    /* 1: nothing is kept in the user's cache folder, nor taken from there */
  int32_t all_steps;   /* 1: predictions replay every step; slower, and needs more memory */
  const char* history; /* its tested predictions count, too; NULL: the user's own history */
  gapless_progress progress;
  void* progress_data;
  const char* source_root; /* the recorded sources are below this folder; NULL: where the recording says */
  int32_t redact;          /* 1: paths, source files, hosts and users are replaced by names */
} gapless_open_options;

typedef struct gapless_report_options {
  int32_t width; /* columns to fill at most; 0: 80 */
  int32_t colour, ascii, verbose;
  const char* const* only; /* ids of rules: show only what these find; none: all */
  size_t only_count;
  const char* const* without; /* ids of rules: leave out what these find */
  size_t without_count;
} gapless_report_options;

GAPLESS_C_API const char* gapless_version(void);
GAPLESS_C_API void gapless_error_release(gapless_error* error);
GAPLESS_C_API void gapless_text_free(char* text);

/* A run without recordings, which gapless_open() fills. */
GAPLESS_C_API gapless_run* gapless_run_new(void);
GAPLESS_C_API void gapless_run_free(gapless_run* run);
/* Recordings, folders of them (the ranks of one job) or tar archives; "3=path" assigns the path to rank 3. Once for
 * each run. `options` may be NULL. */
GAPLESS_C_API int gapless_open(gapless_run* run, const char* const* paths, size_t count,
                               const gapless_open_options* options, gapless_error* error);
/* Ends the calls that read or query now: they return GAPLESS_INTERRUPTED soon. From any thread, or a signal handler. */
GAPLESS_C_API void gapless_cancel(gapless_run* run);

/* Inputs that could not be read while others could: a JSON array of {"message", "place", "hint"}. */
GAPLESS_C_API int gapless_failures(gapless_run* run, char** json, gapless_error* error);
/* Every table and analysis that there is, the same for every run, as JSON: [{"name", "help", "analysis", "columns":
 * [{"name", "type", "unit", "help"}]}]. */
GAPLESS_C_API int gapless_tables(char** json, gapless_error* error);
/* A recorded table, "all_" of one, or an analysis, which is computed now. */
GAPLESS_C_API int gapless_find(gapless_run* run, const char* name, gapless_table** table, gapless_error* error);
/* One SQL statement that reads (SQLite's dialect) over the same tables, with its whole result. */
GAPLESS_C_API int gapless_query(gapless_run* run, const char* sql, gapless_table** table, gapless_error* error);
GAPLESS_C_API void gapless_table_free(gapless_table* table);
GAPLESS_C_API size_t gapless_table_rows(const gapless_table* table);
/* Its columns, as JSON: [{"name", "type": "integer", "real" or "text", "unit", "help"}]. */
GAPLESS_C_API int gapless_table_columns(const gapless_table* table, char** json, gapless_error* error);
/* The columns of these names, in this order; all, where none is named. As often as one likes. */
GAPLESS_C_API int gapless_table_export(const gapless_table* table, const char* const* columns, size_t count,
                                       struct ArrowArrayStream* stream, gapless_error* error);
/* A table of at most `rows` rows of this one, from `first` on; nothing is copied. */
GAPLESS_C_API int gapless_table_slice(const gapless_table* table, size_t first, size_t rows, gapless_table** slice,
                                      gapless_error* error);

/* The report of `gapless analyze` in one of its forms: "terminal", "json", "html", "markdown". `options` may be NULL.
 */
GAPLESS_C_API int gapless_render(gapless_run* run, const char* format, const gapless_report_options* options,
                                 char** text, gapless_error* error);
/* The document of `gapless predict --json`: each of `combinations` is one, such as "amp,workers=8"; none: each fix that
 * can be predicted without a value. A recording whose replay does not match it gets none, and the document says why. */
GAPLESS_C_API int gapless_predict(gapless_run* run, const char* const* combinations, size_t count, char** json,
                                  gapless_error* error);

#ifdef __cplusplus
}
#endif

#endif
