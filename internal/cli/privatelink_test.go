// This file tests that other users cannot learn the link that oxbow ui opens.

package cli

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestLinkIsNoArgument(t *testing.T) {
	w := newWorld(t)
	w.must(t, "remember", "quay", "The wall.")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.out.Reset()
	var opened, page string
	var modes []os.FileMode
	w.env.IsStdoutTerminal = true
	w.env.OpenBrowser = func(link string) error {
		defer cancel()
		opened = link
		u, err := url.Parse(link)
		if err != nil {
			return err
		}
		file := filepath.FromSlash(u.Path)
		if runtime.GOOS == "windows" {
			file = strings.TrimPrefix(file, `\`)
		}
		for _, p := range []string{file, filepath.Dir(file)} {
			fi, err := os.Stat(p)
			if err != nil {
				return err
			}
			modes = append(modes, fi.Mode().Perm())
		}
		b, err := os.ReadFile(file)
		page = string(b)
		return err
	}
	env := w.env
	env.Args = []string{"ui"}
	env.Stdout = &w.out
	env.Stderr = &w.errs
	if status := Run(ctx, env); status != exitSuccess {
		t.Fatalf("status %d: %s", status, w.errs.String())
	}
	if !strings.HasPrefix(opened, "file:///") || strings.Contains(opened, "key=") {
		t.Errorf("the browser is started with %q", opened)
	}
	if runtime.GOOS != "windows" && (len(modes) != 2 || modes[0] != 0o600 || modes[1] != 0o700) {
		t.Errorf("the modes of the file and its directory are %o", modes)
	}
	if !strings.Contains(page, `http-equiv="refresh" content="0;url=http://127.0.0.1:`) ||
		!strings.Contains(page, "enter?key=") {
		t.Errorf("the page does not lead to the link:\n%s", page)
	}
	u, err := url.Parse(opened)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.FromSlash(u.Path)); !os.IsNotExist(err) {
		t.Errorf("the file is there after the end: %v", err)
	}
}
