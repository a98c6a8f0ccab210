// This file tests that TypeScript programs compile with the types that are generated from the description of the HTTP
// API.

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// typedProgram is a TypeScript program that uses the types of some routes. It uses two of them wrongly, and the
// compiler must notice both.
const typedProgram = `import type { components, operations, paths } from "./api";

type Recall = operations["recall"]["responses"][200]["content"]["application/json"];
type Query = NonNullable<paths["/api/v1/recall"]["get"]["parameters"]["query"]>;
type Note = NonNullable<operations["create"]["requestBody"]>["content"]["application/json"];
type Problem = components["schemas"]["Problem"];

export const query: Query = { query: "crane", limit: 3, in: "sessions", tags: ["a", "b"] };
export const note: Note = { name: "style", content: "Tabs.", confidence: 0.5, if_version: 3 };
export const put: paths["/api/v1/entries/{name}"]["put"]["parameters"] = { path: { name: "a/b" }, header: { "If-Match": "\"x\"" } };
export const names = (r: Recall): string[] => r.hits.map((h) => h.name + h.source.by + (h.explanation?.terms[0]?.score ?? 0));
export const next = (l: operations["list"]["responses"][200]["content"]["application/json"]): string | undefined => l.next;
export const said = (p: Problem): string => p.detail + (p.remedy ?? "");

// @ts-expect-error: there is no such place
export const nowhere: Query = { in: "nowhere" };
// @ts-expect-error: a version is a number
export const text: Note = { if_version: "three" };
`

func TestTypeScript(t *testing.T) {
	dir := filepath.Join(os.Getenv(clientsEnv), "typescript", "node_modules")
	generator, compiler := filepath.Join(
		dir,
		"openapi-typescript",
		"bin",
		"cli.js",
	), filepath.Join(dir, "typescript", "bin", "tsc")
	for _, file := range []string{generator, compiler} {
		if _, err := os.Stat(file); err == nil && os.Getenv(clientsEnv) != "" {
			continue
		}
		hint := "npm install --prefix $" + clientsEnv + "/typescript openapi-typescript@7 typescript@5, with " +
			clientsEnv + " set to that directory"
		if isClientRequired("typescript") {
			t.Fatal("OXBOW_REQUIRE names it: " + hint)
		}
		t.Skip(hint)
	}
	at := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		c := exec.Command("node", args...)
		c.Dir = at
		if c.Err != nil {
			t.Skip(c.Err)
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	spec, err := filepath.Abs("../../internal/httpapi/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	run(generator, spec, "--output", filepath.Join(at, "api.ts"))
	if err := os.WriteFile(filepath.Join(at, "program.ts"), []byte(typedProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	run(
		compiler,
		"--strict",
		"--noEmit",
		"--target",
		"es2022",
		"--module",
		"esnext",
		"--moduleResolution",
		"bundler",
		"program.ts",
		"api.ts",
	)
}
