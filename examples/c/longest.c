/* SPDX-License-Identifier: Apache-2.0
 * Prints the longest kernels of a recording, from the Arrow stream of a query.
 *
 * usage: longest RECORDING */
#include <gapless/c.h>

#include <stdio.h>

static int Complain(gapless_error* error, int status) {
  fprintf(stderr, "%s: %s\n", error->place, error->message);
  gapless_error_release(error);
  return status;
}

/* The text of a row: a number into the dictionary, whose texts lie one behind the other. */
static void PrintRow(const struct ArrowArray* names, const int64_t* durations, int64_t row) {
  const int32_t at = ((const int32_t*)names->buffers[1])[row];
  const int32_t* offsets = (const int32_t*)names->dictionary->buffers[1];
  const char* bytes = (const char*)names->dictionary->buffers[2];
  printf("%lld ns %.*s\n", (long long)durations[row], (int)(offsets[at + 1] - offsets[at]), bytes + offsets[at]);
}

static void PrintAll(struct ArrowArrayStream* stream) {
  struct ArrowArray batch;
  while (stream->get_next(stream, &batch) == 0 && batch.release != NULL) {
    for (int64_t row = 0; row < batch.length; ++row)
      PrintRow(batch.children[0], (const int64_t*)batch.children[1]->buffers[1], row);
    batch.release(&batch);
  }
  stream->release(stream);
}

int main(int count, char** words) {
  static const char kSql[] =
      "SELECT name, max(dur_ns) AS ns FROM gpu_op GROUP BY name ORDER BY ns DESC, name LIMIT 3";
  if (count != 2) return fprintf(stderr, "usage: longest RECORDING\n"), GAPLESS_USAGE;
  gapless_run* run = gapless_run_new();
  gapless_table* table = NULL;
  gapless_error error = {0};
  const char* const paths[] = {words[1]};
  int status = gapless_open(run, paths, 1, NULL, &error);
  if (status == 0) status = gapless_query(run, kSql, &table, &error);
  if (status == 0) {
    struct ArrowArrayStream stream;
    status = gapless_table_export(table, NULL, 0, &stream, &error);
    if (status == 0) PrintAll(&stream);
    gapless_table_free(table);
  }
  gapless_run_free(run);
  return status == 0 ? 0 : Complain(&error, status);
}
