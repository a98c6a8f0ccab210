// This file implements the steps of rows. A row is the test case for one requirement, and each of its steps is a line
// with an action or a check.

package designs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// An action is the function of a step that uses oxbow or prepares the test. The result is the output, which later steps
// can check. The action returns an error if it fails.
type action func(w *world, s step, args []string) (string, error)

// actions returns the functions that execute the steps of a requirement. The keys are the first words of the steps. If
// the word "fail" is before the key in a step, the action must return an error (see the method step).
func actions() map[string]action {
	return map[string]action{
		"remember": func(w *world, _ step, args []string) (string, error) {
			return w.door.remember(args[0], args[1], args[2])
		},
		"recall":  func(w *world, _ step, args []string) (string, error) { return w.door.recall(args[0]) },
		"forget":  func(w *world, _ step, args []string) (string, error) { return w.door.forget(args[0]) },
		"context": func(w *world, _ step, _ []string) (string, error) { return w.door.context() },
		"prompt":  func(w *world, _ step, args []string) (string, error) { return w.door.prompt(args[0]) },
		"compact": func(w *world, _ step, args []string) (string, error) { return w.door.compact(args[0]) },
		"end":     func(w *world, _ step, args []string) (string, error) { return w.door.end(args[0]) },
		"select":  func(w *world, _ step, args []string) (string, error) { return w.selectProfile(args[0]) },
		"handoff": func(w *world, _ step, _ []string) (string, error) { return w.takeHandoff() },
		"edit":    func(w *world, _ step, _ []string) (string, error) { return w.door.edit() },
		"session": func(w *world, _ step, _ []string) (string, error) { return w.out, w.door.close() },
		"tool": func(w *world, s step, args []string) (string, error) {
			_, rest, _ := strings.Cut(s.raw, args[0]+" ")
			return w.door.tool(args[0], rest)
		},
		"tools": func(w *world, _ step, args []string) (string, error) {
			names, err := w.door.tools()
			slices.Sort(names)
			slices.Sort(args)
			if err == nil && !slices.Equal(names, args) {
				err = fmt.Errorf("tools are %q, want %q", names, args)
			}
			return "", err
		},
		"schema": func(w *world, _ step, args []string) (string, error) {
			d, ok := w.door.(interface{ schema(string) (string, error) })
			if !ok {
				return "", errNoWay
			}
			return d.schema(args[0])
		},
		"link": func(w *world, _ step, args []string) (string, error) {
			return "", os.Link(w.path(args[0]), w.path(args[1]))
		},
		"resources": func(w *world, _ step, _ []string) (string, error) {
			d, ok := w.door.(*mcpDoor)
			if !ok {
				return "", errNoWay
			}
			return d.resources()
		},
		"oxbow":  func(w *world, _ step, args []string) (string, error) { return w.oxbow(args...) },
		"write":  writeStep,
		"append": appendStep,
		"big":    bigStep,
		"move": func(w *world, _ step, args []string) (string, error) {
			return "", os.Rename(w.path(args[0]), w.path(args[1]))
		},
		"remove": func(w *world, _ step, args []string) (string, error) { return "", os.RemoveAll(w.path(args[0])) },
		"now":    func(w *world, _ step, args []string) (string, error) { return "", w.setTime(args[0]) },
		"set": func(w *world, _ step, args []string) (string, error) {
			w.setVar(args[0], args[1])
			return "", nil
		},
		"flags": func(w *world, _ step, args []string) (string, error) {
			w.flags = args
			return "", nil
		},
		"git": gitStep,
		"commit": func(w *world, _ step, _ []string) (string, error) {
			who := []string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}
			return "", runGit(w.tree, append(who, "commit", "-qam", "edit")...)
		},
		"run": func(w *world, _ step, args []string) (string, error) {
			fn, found := programs()[args[0]]
			if !found {
				return "", fmt.Errorf("there is no program %q", args[0])
			}
			return fn(w)
		},
	}
}

func writeStep(w *world, _ step, args []string) (string, error) {
	return w.out, w.writeFile(args[0], []byte(args[1]))
}

func appendStep(w *world, _ step, args []string) (string, error) {
	data, err := os.ReadFile(w.path(args[0]))
	if err != nil {
		return "", err
	}
	return w.out, w.writeFile(args[0], append(data, args[1]...))
}

// bigStep writes a file of about args[1] bytes, which consists of numbered facts in paragraphs. The last line is
// args[2].
func bigStep(w *world, _ step, args []string) (string, error) {
	size, err := strconv.Atoi(args[1])
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	for i := 1; b.Len() < size; i++ {
		fmt.Fprintf(&b, "Fact %d: the server number %d is in a rack.\n\n", i, i)
	}
	return "", w.writeFile(args[0], append(b.Bytes(), args[2]...))
}

// gitStep makes the working tree a git repository that contains hello.go.
func gitStep(w *world, _ step, _ []string) (string, error) {
	testenv.RequireProgram(w.t, "git", "apt-get install git")
	if err := w.writeFile("./hello.go", []byte(helloBefore)); err != nil {
		return "", err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "hello"},
	} {
		if err := runGit(w.tree, args...); err != nil {
			return "", err
		}
	}
	return "", nil
}

// A check is the function of a step that compares the output of the last action, or files in the world, with the
// arguments args. It returns an error if they do not match.
type check func(w *world, args []string) error

func checks() map[string]check {
	return map[string]check{
		"out": func(w *world, args []string) error { return containsAll("the output", w.out, args) },
		"no":  func(w *world, args []string) error { return containsNone("the output", w.out, args) },
		"is": func(w *world, args []string) error {
			if strings.TrimSpace(w.out) != strings.TrimSpace(args[0]) {
				return fmt.Errorf("the output is %q, want %q", w.out, args[0])
			}
			return nil
		},
		"order":     func(w *world, args []string) error { return inOrder(w.out, args) },
		"file":      func(w *world, args []string) error { return w.checkFile(args, containsAll) },
		"filelacks": func(w *world, args []string) error { return w.checkFile(args, containsNone) },
		"fileis": func(w *world, args []string) error {
			data, err := os.ReadFile(w.path(args[0]))
			if err == nil && string(data) != args[1] {
				err = fmt.Errorf("%s contains %q, want %q", args[0], data, args[1])
			}
			return err
		},
		"exists": func(w *world, args []string) error {
			for _, name := range args {
				if _, err := os.Stat(w.path(name)); err != nil {
					return err
				}
			}
			return nil
		},
		"absent": func(w *world, args []string) error {
			for _, name := range args {
				if _, err := os.Stat(w.path(name)); !os.IsNotExist(err) {
					return fmt.Errorf("%s exists (%v)", name, err)
				}
			}
			return nil
		},
		"keep": func(w *world, args []string) error {
			files, err := readTree(w.path(args[0]))
			for name, data := range files {
				w.saved[filepath.Join(args[0], name)] = data
			}
			return err
		},
		"kept":  (*world).checkKept,
		"files": (*world).checkFiles,
		"count": func(w *world, args []string) error {
			if n := strings.Count(w.out, args[1]); strconv.Itoa(n) != args[0] {
				return fmt.Errorf("%q is %d times in the output, want %s: %s", args[1], n, args[0], w.out)
			}
			return nil
		},
	}
}

func containsAll(what, text string, want []string) error {
	for _, s := range want {
		if !strings.Contains(text, s) {
			return fmt.Errorf("%s lacks %q: %.1500q", what, s, text)
		}
	}
	return nil
}

func containsNone(what, text string, unwanted []string) error {
	for _, s := range unwanted {
		if strings.Contains(text, s) {
			return fmt.Errorf("%s contains %q: %.1500q", what, s, text)
		}
	}
	return nil
}

func inOrder(text string, want []string) error {
	rest := text
	for _, s := range want {
		_, after, found := strings.Cut(rest, s)
		if !found {
			return fmt.Errorf("%q is missing or not in this order %q: %.1500q", s, want, text)
		}
		rest = after
	}
	return nil
}

func (w *world) checkFile(args []string, test func(what, text string, words []string) error) error {
	data, err := os.ReadFile(w.path(args[0]))
	if err != nil {
		return err
	}
	return test(args[0], string(data), args[1:])
}

// readTree returns the contents of the files at and below a path, by their paths relative to it.
func readTree(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// checkKept compares the file or the directory args[0] with the files that an earlier step "keep" stored in w.saved. It
// returns an error if one of these files is missing or has different bytes, or if no such file was stored. The
// directory may contain additional files unless there is a second argument, which is the word "exactly".
func (w *world) checkKept(args []string) error {
	files, err := readTree(w.path(args[0]))
	if err != nil {
		return err
	}
	n := 0
	for name, data := range w.saved {
		rel, err := filepath.Rel(filepath.FromSlash(args[0]), name)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		n++
		if got, found := files[rel]; !found || !bytes.Equal(got, data) {
			return fmt.Errorf("%s contains %q, want %q as before", name, got, data)
		}
	}
	if n == 0 {
		return errors.New("nothing was kept before")
	}
	if len(args) > 1 && len(files) != n {
		return fmt.Errorf("%s contains %d files, want %d", args[0], len(files), n)
	}
	return nil
}

// checkFiles checks the names of the files in the directory args[0], which must be the names in the other arguments. It
// ignores oxbow's own files, whose names begin with .oxbow or end in .lock.
func (w *world) checkFiles(args []string) error {
	files, err := readTree(w.path(args[0]))
	if err != nil {
		return err
	}
	var names []string
	for name := range files {
		if base := filepath.Base(name); !strings.HasPrefix(base, ".oxbow") && !strings.HasSuffix(base, ".lock") {
			names = append(names, filepath.ToSlash(name))
		}
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(args[1:]))
	if !slices.Equal(names, want) {
		return fmt.Errorf("the files in %s are %q, want %q", args[0], names, want)
	}
	return nil
}
