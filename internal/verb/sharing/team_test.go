// This file tests which entries cannot be shared with a team. It also tests where an entry is stored after a call to
// share the entry was interrupted.

package sharing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// sharing is a person's workspace with team files. If fail is not nil, each change of the memory fails with it.
type sharing struct {
	*verb.Workspace
	m    *oxbow.Memory
	ctx  context.Context
	fail error
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(testenv.RequireProgram(t, "git", "apt install git"), "init", "-q", dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	s := &sharing{ctx: oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person})}
	s.m = storetest.Open(
		t,
		"memory.oxbow",
		&oxbow.Options{
			FS: vfs.NewMem(),
			Screen: func(_ context.Context, _ oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
				return ops, s.fail
			},
		},
	)
	s.Workspace = &verb.Workspace{
		Dir:  dir,
		Host: &verb.Host{Rand: bytes.NewReader(make([]byte, 1000)), TrustList: trust.List{Dir: t.TempDir()}},
		Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return s.m, nil },
	}
	if _, err := TeamInit(s.ctx, s.Workspace, TeamInitIn{OxbowCommand: "oxbow"}); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sharing) add(t *testing.T, op oxbow.Add) {
	t.Helper()
	if err := s.m.Apply(s.ctx, op); err != nil {
		t.Fatal(err)
	}
}

// has returns where an entry is: in the home, in the team files, in both or in neither.
func (s *sharing) has(t *testing.T, name string) string {
	t.Helper()
	var at []string
	if _, err := s.m.Get(s.ctx, name); err == nil {
		at = append(at, "home")
	}
	files, wrong, err := team.LintFiles(filepath.Join(s.Dir, filepath.FromSlash(team.Dir)))
	if err != nil || len(wrong) > 0 {
		t.Fatal(wrong, err)
	}
	for _, f := range files {
		if f.Entry.Name == name {
			at = append(at, "team")
		}
	}
	return strings.Join(at, " ")
}

func TestShareInterrupted(t *testing.T) {
	s := newSharing(t)
	s.add(t, oxbow.Add{Name: "a", Content: "one", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}})
	share := func(
		what, want string,
		run func(context.Context, *verb.Workspace, TeamShareIn) (TeamShareOut, error),
		fails bool,
	) {
		t.Helper()
		_, err := run(s.ctx, s.Workspace, TeamShareIn{Names: []string{"a"}})
		if got := s.has(t, "a"); got != want || (err != nil) != fails {
			t.Errorf("%s: %v; the entry is in %q, want %q", what, err, got, want)
		}
	}
	random := s.Host.Rand
	s.Host.Rand = io.LimitReader(random, 0)
	share("the file cannot be written", "home", TeamShare, true)
	s.Host.Rand, s.fail = random, errors.New("the disk is full")
	share("the home cannot be changed", "home team", TeamShare, true)
	s.fail = nil
	share("again", "team", TeamShare, false)
	s.fail = errors.New("the disk is full")
	share("the home cannot take it back", "team", UnshareEntries, true)
	s.fail = nil
	share("taken back", "home", UnshareEntries, false)
	share("taken back again", "home", UnshareEntries, false)
	share("shared", "team", TeamShare, false)
	share("shared again", "team", TeamShare, false)
	share("taken back once more", "home", UnshareEntries, false)
	if e, err := s.m.Get(s.ctx, "a"); err != nil || e.Content != "one" || len(e.Labels) != 1 {
		t.Errorf("it came back as %+v, %v", e, err)
	}
}

func TestShareRefuses(t *testing.T) {
	const key = "AKIAIOSFODNN7EXAMPLQ"
	s := newSharing(t)
	for i, c := range []struct {
		op   oxbow.Add
		want string
	}{
		{oxbow.Add{Content: "it is " + key}, "looks like a secret"},
		{oxbow.Add{Aliases: []string{key}}, "looks like a secret"},
		{oxbow.Add{Labels: []oxbow.Label{{Key: "note", Value: key}}}, "looks like a secret"},
		{oxbow.Add{Content: "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq0Yq2\n", 8) +
			"-----END RSA PRIVATE KEY-----"}, "looks like a secret"},
		{oxbow.Add{Content: "mail ada.lovelace@gmail.com"}, "personal data (mail)"},
		{oxbow.Add{Labels: []oxbow.Label{{Key: "who", Value: "ada.lovelace@gmail.com"}}}, "personal data (mail)"},
		{oxbow.Add{Content: "IBAN DE89 3704 0044 0532 0130 00"}, "personal data (iban)"},
		{oxbow.Add{Content: strings.Repeat("long ", 4000)}, "the most that a team file has is 16384"},
		{oxbow.Add{Content: "x", Labels: []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch"}}}, "held back"},
		{oxbow.Add{Content: "x", Labels: []oxbow.Label{{Key: oxbow.LabelQuarantine, Value: "lasting"}}}, "held back"},
		{oxbow.Add{Kind: oxbow.Handoff, Content: "x"}, "team files are notes"},
	} {
		c.op.Name = fmt.Sprint("entry ", i)
		s.add(t, c.op)
		s.add(t, oxbow.Add{Name: "good " + c.op.Name, Content: "x"})
		_, err := TeamShare(s.ctx, s.Workspace, TeamShareIn{Names: []string{"good " + c.op.Name, c.op.Name}})
		if !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v, want %q", c.op.Name, err, c.want)
		}
		if a, b := s.has(t, c.op.Name), s.has(t, "good "+c.op.Name); a != "home" || b != "home" {
			t.Errorf("%s: it is in %q and the good one in %q, want neither shared", c.op.Name, a, b)
		}
	}
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent})
	if _, err := TeamShare(
		agent,
		s.Workspace,
		TeamShareIn{Names: []string{"good entry 0"}},
	); !errors.Is(err, oxbow.ErrInvalid) || s.has(t, "good entry 0") != "home" {
		t.Errorf("an agent shares: %v", err)
	}
}
