// This file builds the programs that are measured, and installs the npm package of another memory program, with which
// oxbow is compared.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// modulePath is the path of the module whose program is measured.
const modulePath = "github.com/oxbow-memory/oxbow"

// runGoTool runs the go command in dir and returns its output.
func runGoTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}

// programPath returns the path of the program with this name in dir.
func programPath(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

// buildOxbow builds oxbow from the main module into dir, with this name and these flags for go build,
// and returns its absolute path.
func buildOxbow(ctx context.Context, dir, name string, flags ...string) (string, error) {
	root, err := runGoTool(ctx, "", "list", "-m", "-f", "{{.Dir}}", modulePath)
	if err != nil {
		return "", fmt.Errorf("finding oxbow (run in the directory test/bench): %w", err)
	}
	path, err := filepath.Abs(programPath(dir, name))
	if err != nil {
		return "", err
	}
	args := append([]string{"build", "-o", path}, flags...)
	if _, err := runGoTool(ctx, root, append(args, "./cmd/oxbow")...); err != nil {
		return "", fmt.Errorf("building oxbow: %w", err)
	}
	return path, nil
}

// helloSource is the source of the smallest Go programs: a program that ends at once, and a program
// that reads a line and answers it.
const helloSource = `package main

import (
	"bufio"
	"os"
)

func main() {
	if len(os.Args) > 1 {
		line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
		if err != nil {
			os.Exit(1)
		}
		if _, err := os.Stdout.Write(line); err != nil {
			os.Exit(1)
		}
	}
}
`

// buildMinimalProgram compiles a minimal program, with which other programs are compared, into the directory dir.
func buildMinimalProgram(ctx context.Context, dir string) (string, error) {
	src := filepath.Join(dir, "hello.go")
	if err := os.WriteFile(src, []byte(helloSource), 0o600); err != nil {
		return "", err
	}
	path, err := filepath.Abs(programPath(dir, "hello"))
	if err != nil {
		return "", err
	}
	if _, err := runGoTool(ctx, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", path, src); err != nil {
		return "", fmt.Errorf("building the bare program: %w", err)
	}
	return path, nil
}

// minimalEnv returns the environment of a measured program: the variables that it needs to run, and dir as
// the user's empty home directory.
func minimalEnv(getenv func(string) string, dir string) []string {
	env := []string{"HOME=" + dir, "USERPROFILE=" + dir, "XDG_DATA_HOME=" + dir}
	for _, key := range []string{"PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LANG"} {
		if v := getenv(key); v != "" {
			env = append(env, key+"="+v)
		}
	}
	return env
}

// installMemoryServer installs the npm package of a memory server into the directory dir. The result p is the program
// that starts the server. It starts the server directly, without npx, which needs additional time. The result name is
// the server's name with its version.
func installMemoryServer(ctx context.Context, dir, pkg string) (p program, name string, err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return p, "", fmt.Errorf("finding node: %w", err)
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return p, "", fmt.Errorf("finding npm: %w", err)
	}
	cmd := exec.CommandContext(
		ctx,
		npm,
		"install",
		"--prefix",
		dir,
		"--no-audit",
		"--no-fund",
		"--ignore-scripts",
		"--loglevel=error",
		pkg,
	)
	if out, err := cmd.CombinedOutput(); err != nil {
		return p, "", fmt.Errorf("installing %s: %w: %s", pkg, err, firstLine(string(bytes.TrimSpace(out))))
	}
	bare := pkg
	if i := strings.LastIndexByte(pkg, '@'); i > 0 {
		bare = pkg[:i]
	}
	at := filepath.Join(dir, "node_modules", filepath.FromSlash(bare))
	raw, err := os.ReadFile(filepath.Join(at, "package.json"))
	if err != nil {
		return p, "", err
	}
	main, version, err := npmProgram(raw)
	if err != nil {
		return p, "", fmt.Errorf("reading package.json of %s: %w", bare, err)
	}
	return program{path: node, args: []string{filepath.Join(at, filepath.FromSlash(main))}}, bare + " " + version, nil
}

// npmProgram returns the file of a package's program, and the package's version. packageJSON is the content of the file
// package.json. If the package does not have exactly one program, npmProgram returns an error.
func npmProgram(packageJSON []byte) (file, version string, err error) {
	var m struct {
		Version string          `json:"version"`
		Bin     json.RawMessage `json:"bin"` // path of the program's file, or a map from program names to such paths
	}
	if err := json.Unmarshal(packageJSON, &m); err != nil {
		return "", "", err
	}
	if json.Unmarshal(m.Bin, &file) == nil && file != "" {
		return file, m.Version, nil
	}
	bins := map[string]string{}
	if err := json.Unmarshal(m.Bin, &bins); err != nil {
		return "", "", fmt.Errorf("field bin: %w", err)
	}
	if len(bins) != 1 {
		return "", "", fmt.Errorf("has %d programs, not one", len(bins))
	}
	files := slices.Collect(maps.Values(bins))
	return files[0], m.Version, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
