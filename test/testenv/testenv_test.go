// This file tests what RequireProgram does if a program is missing. It must skip the test. If an environment variable
// says that the program is required, it must fail the test instead.

package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a testing.TB that records whether the test failed or was skipped (the field end), and the message (the
// field text).
type recorder struct {
	testing.TB
	end, text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.end, r.text = "failed", fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.end, r.text = "skipped", fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestProgram(t *testing.T) {
	dir := t.TempDir()
	name, missing := "oxbow-need", "oxbow-need-missing"
	file := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, tc := range []struct{ name, require, end string }{
		{name, "", "found"},
		{name, "all", "found"},
		{name, name, "found"},
		{missing, "", "skipped"},
		{missing, name, "skipped"},
		{missing, missing + "-2", "skipped"},
		{missing, missing, "failed"},
		{missing, "git, " + missing + " ,node", "failed"},
		{missing, "all", "failed"},
		{missing, "git,all", "failed"},
	} {
		t.Setenv(requiredProgramsVar, tc.require)
		r := &recorder{TB: t, end: "found"}
		path := ""
		done := make(chan struct{})
		go func() {
			defer close(done)
			path = RequireProgram(r, tc.name, "apt install it")
		}()
		<-done
		if r.end != tc.end {
			t.Errorf("%s=%q: Program(%s) %s, want %s", requiredProgramsVar, tc.require, tc.name, r.end, tc.end)
		}
		if tc.end == "found" && path != file {
			t.Errorf("%s=%q: Program(%s) = %q, want %q", requiredProgramsVar, tc.require, tc.name, path, file)
		}
		if tc.end != "found" && (!strings.Contains(r.text, "apt install it") || !strings.Contains(r.text, tc.name)) {
			t.Errorf(
				"%s=%q: Program(%s) says %q, want the name and the hint",
				requiredProgramsVar,
				tc.require,
				tc.name,
				r.text,
			)
		}
	}
}

func TestLong(t *testing.T) {
	for _, tc := range []struct {
		text                   string
		everyday, full, result int
	}{{"", 12, 240, 12}, {"0", 12, 240, 12}, {"1", 12, 240, 240}, {"0.5", 12, 240, 126}, {"0.5", 7, 1, 4}} {
		t.Setenv(longTestsVar, tc.text)
		if n := RepeatCount(tc.everyday, tc.full); n != tc.result {
			t.Errorf("%q of %d to %d is %d, want %d", tc.text, tc.everyday, tc.full, n, tc.result)
		}
	}
	for _, text := range []string{"yes", "2", "-1", "NaN"} {
		t.Setenv(longTestsVar, text)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", text)
				}
			}()
			RepeatCount(1, 2)
		}()
	}
}
