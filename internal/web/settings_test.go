// This file tests the settings page with real files.

package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// placed replaces the browser's memory by a memory that is stored in files, signs in, and adds the entry "deploy". It
// returns the home, which is the directory of the files.
func (b *browser) placed() (home string) {
	b.t.Helper()
	home = b.t.TempDir()
	m := storetest.Open(b.t, filepath.Join(home, "memory.oxbow"), &oxbow.Options{Clock: func() time.Time {
		return clock
	}})
	w := b.views.Workspace
	b.memory, w.Open = m, func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }
	w.Place = func() (verb.Place, error) {
		return verb.Place{Home: home, StorePath: filepath.Join(home, "memory.oxbow")}, nil
	}
	w.Host = &verb.Host{Getenv: func(string) string {
		return ""
	}, GOOS: "linux", FileSystem: func(string) (sysinfo.FileSystem, error) {
		return sysinfo.FileSystem{}, nil
	}}
	b.enter()
	b.remember("deploy", "Ship it.")
	return home
}

func TestSettings(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.has(b.get(page.RootPath+"settings", http.StatusOK), "No client has reported a session yet.", "lies in no file")
	home := b.placed()
	b.archived(talk("s1", "harbor", "Hello.", "ok")...)
	shown := b.get(page.RootPath+"settings", http.StatusOK)
	b.has(
		shown,
		"/ui/sessions?client=claude",
		"minutes ago",
		"No errors.",
		"memory.oxbow",
		"these pages do not show",
	)
	b.has(b.submit(shown, "Check every byte", nil, http.StatusOK), "The memory is intact", "1 record,")

	off := filepath.Join(home, injection.InjectionOffFile)
	b.has(shown, "oxbow shows notes to agents without being asked.")
	if strings.Contains(shown, "Turn on") {
		t.Error("hooks are on, and the page offers to switch them on")
	}
	shown = b.submit(shown, "Turn off", nil, http.StatusOK)
	b.has(shown, "oxbow now shows notes only", "because of "+off)
	if strings.Contains(shown, "Turn off") {
		t.Error("hooks are off, and the page offers to switch them off")
	}
	if _, err := os.Stat(off); err != nil {
		t.Error(err)
	}
	b.has(b.submit(shown, "Turn on", nil, http.StatusOK), "oxbow shows notes to agents without being asked.")
	if _, err := os.Stat(off); err == nil {
		t.Error("it is still off")
	}

	file := filepath.Join(t.TempDir(), "copy.oxbow")
	form := url.Values{"file": {file}}
	delete(form, "sessions")
	b.has(
		b.post(page.RootPath+"settings/backup", form, http.StatusOK),
		"The memory was copied, and the copy was checked.",
		"copy.oxbow",
	)
	if fi, err := os.Stat(file); err != nil || fi.Size() == 0 {
		t.Errorf("the copy: %v, %v", fi, err)
	}
	b.has(b.post(page.RootPath+"settings/backup", form, http.StatusInternalServerError), "already exists")
	b.post(
		page.RootPath+"settings/backup",
		url.Values{"file": {filepath.Join(home, "memory.oxbow")}},
		http.StatusBadRequest,
	)
}

// TestSettingsRights tests that settings are shown only to browsers that see the whole memory, and
// changed only by persons.
func TestSettingsRights(t *testing.T) {
	b := bound(t)
	home := b.placed()
	for _, path := range []string{"settings"} {
		if shown := b.get(page.RootPath+path, http.StatusForbidden); strings.Contains(shown, home) {
			t.Errorf("%s shows the home", path)
		}
	}
	for _, path := range []string{"check", "backup", "inject"} {
		b.post(page.RootPath+"settings/"+path, url.Values{"file": {filepath.Join(home, "x")}}, http.StatusForbidden)
	}
	for _, rights := range []auth.Permissions{{ReadOnly: true}, {}} {
		b = open(t, rights)
		home = b.placed()
		if !rights.ReadOnly {
			b.token()
		}
		b.get(page.RootPath+"settings", http.StatusOK)
		for _, path := range []string{"backup", "inject"} {
			b.has(b.post(page.RootPath+"settings/"+
				path, url.Values{"file": {filepath.Join(home, "x")}, "off": {"1"}},
				http.StatusForbidden), "This needs a person")
		}
		if files, _ := filepath.Glob(filepath.Join(home, "*")); strings.Contains(
			strings.Join(files, " "),
			"inject.off",
		) {
			t.Error("an agent switched hooks off")
		}
	}
}

// TestSettingsWithoutSessions tests the settings of a layout without sessions.
func TestSettingsWithoutSessions(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.views.Workspace.Sessions = func(context.Context) (*session.Archive, error) {
		return nil, verb.Advise(fmt.Errorf("%w: no sessions here", oxbow.ErrUnsupported), "oxbow convert moves it")
	}
	link, err := b.server.SignInLink("settings")
	if err != nil {
		t.Fatal(err)
	}
	b.get(link, http.StatusOK)
	b.has(
		b.get(page.RootPath+"settings", http.StatusOK),
		"no sessions here",
		"oxbow convert moves it.",
		"Size",
		"Backup",
	)
}
