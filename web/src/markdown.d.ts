// SPDX-License-Identifier: Apache-2.0
// esbuild gives a file of Markdown as its text (build.mjs).
declare module "*.md" {
  const text: string;
  export default text;
}
