// This file tests functions without side effects, with tables.

package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// TestAgeOfTheFuture tests that an entry's age is never negative, even if the clock was set back after the entry was
// written.
func TestAgeOfTheFuture(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{now.Add(time.Hour), "now"},
		{now, "now"},
		{now.Add(-999 * time.Millisecond), "now"},
		{now.Add(-59 * time.Second), "59s"},
		{now.Add(-time.Minute), "1m"},
		{now.Add(-47 * time.Hour), "47h"},
		{now.Add(-48 * time.Hour), "2d"},
		{now.AddDate(0, 0, -60), "2mo"},
		{now.AddDate(-3, 0, 0), "3y"},
		{time.Time{}, "-"},
	} {
		if got := ageText(c.t, now); got != c.want {
			t.Errorf("age(%v) = %q, want %q", c.t, got, c.want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"127.0.0.1:80", "127.0.0.1:80"},
		{"localhost:0", "localhost:0"},
		{"[::1]:80", "[::1]:80"},
		{":8333", "127.0.0.1:8333"},
		{"8333", "127.0.0.1:8333"},
		{"127.9.9.9:1", "127.9.9.9:1"},
		{"0.0.0.0:80", ""},
		{"[::]:80", ""},
		{"192.168.1.2:80", ""},
		{"example.org:80", ""},
		{"localhost.example.org:80", ""},
		{"127.0.0.1", ""},
		{"", ""},
	} {
		at, err := publicFlags{}.resolveAddress(c.in)
		got := at.addr
		if (err == nil && got != c.want) || (err != nil) != (c.want == "") ||
			(err != nil && exitCode(err) != exitUsageError) {
			t.Errorf("admit(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		in      string
		windows bool
		want    []string
	}{
		{"vi", false, []string{"vi"}},
		{"  code  --wait\t", false, []string{"code", "--wait"}},
		{`"/my editors/vi" -u 'a b'`, false, []string{"/my editors/vi", "-u", "a b"}},
		{`a\ b c\\d`, false, []string{"a b", `c\d`}},
		{`emacs --eval "(f \"x\")"`, false, []string{"emacs", "--eval", `(f "x")`}},
		{`'a\b'`, false, []string{`a\b`}},
		{`vi ""`, false, []string{"vi", ""}},
		{"caf\xe9", false, []string{"caf\xe9"}},
		{`C:\bin\vi.exe -n`, true, []string{`C:\bin\vi.exe`, "-n"}},
		{`"C:\Program Files\x.exe"`, true, []string{`C:\Program Files\x.exe`}},
		{`"open`, false, nil},
		{`end\`, false, nil},
		{`""`, false, nil},
	} {
		got, err := splitCommand(c.in, c.windows)
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("splitCommand(%q, %v) = %q, %v, want %q", c.in, c.windows, got, err, c.want)
		}
	}
}

func TestFileName(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"style", "style"},
		{"../../etc/passwd", "etc-passwd"},
		{"a b: c?", "a-b--c"},
		{"日本", "日本"},
		{"con", "entry-con"},
		{"COM1.x", "entry-COM1.x"},
		{"..", "entry"},
		{strings.Repeat("é", 100), strings.Repeat("é", 30)},
	} {
		if got := safeFileName(c.in); got != c.want {
			t.Errorf("fileName(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"style", "style"}, {"--limit", "--limit"}, {"a b", "'a b'"}, {"", "''"}, {"it's", `'it'\''s'`},
		{"$HOME", "'$HOME'"}, {"日本", "日本"},
	} {
		if got := shellQuote(c.in); got != c.want {
			t.Errorf("quote(%q) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestMarkTerms(t *testing.T) {
	args := []string{"recall", "-tag:draft", "-q", "--content", "-x:y", "--", "-a:b"}
	marked := markNonFlagArgs(args)
	want := []string{
		"recall",
		nonFlagArgPrefix + "-tag:draft",
		"-q",
		"--content",
		nonFlagArgPrefix + "-x:y",
		"--",
		"-a:b",
	}
	if !slices.Equal(marked, want) {
		t.Errorf("markMinusTerms(%q) = %q, want %q", args, marked, want)
	}
	if got := removeArgumentPrefixes(marked); !slices.Equal(got, args) {
		t.Errorf("removeMarks(%q) = %q, want %q", marked, got, args)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitSuccess}, {errors.New("x"), exitCommandFailed}, {errAlreadyPrinted, exitCommandFailed},
		{usageErrorf("",
			"x"), exitUsageError},
		{&hintedError{err: errors.New("x")}, exitCommandFailed}, {errors.Join(errors.New("x"), usageErrorf("", "y")),
			exitUsageError},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("status(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestSentence(t *testing.T) {
	undo := func(does, to string) *verb.CallHint {
		return &verb.CallHint{
			Verb:    "undo",
			Args:    []verb.HintArgument{{Name: "seq", Value: []uint64{4}}},
			Effect:  does,
			Purpose: to,
		}
	}
	restore := func(name string) *verb.CallHint {
		return &verb.CallHint{
			Verb:   "restore",
			Args:   []verb.HintArgument{{Name: "name", Value: name}, {Name: "seq", Value: uint64(3)}},
			Effect: "brings it back",
		}
	}
	for _, c := range []struct {
		in            verb.Note
		model, person string
	}{
		{
			verb.Notef("%s", undo("brings it back", "bring it back")),
			"undo with seq [4] brings it back",
			"to bring it back: oxbow undo --seq 4",
		},
		{verb.Notef("to redo: %s", undo("", "")), "to redo: undo with seq [4]", "to redo: oxbow undo --seq 4"},
		{
			verb.Notef("%s", restore("a")),
			`restore with name "a" and seq 3 brings it back`,
			"oxbow restore a@3 brings it back",
		},
		{
			verb.Notef("%s", restore("a b")),
			`restore with name "a b" and seq 3 brings it back`,
			`oxbow restore 'a b@3' brings it back`,
		},
		{
			verb.Notef("%d more; %s", 5, verb.NextPageRef(20)),
			"5 more; the next page has offset 20",
			"5 more; the next page: --offset 20",
		},
		{
			verb.ErrorRemedy(oxbow.ErrNotFound),
			"list shows what there is, history what was changed",
			"oxbow list shows what there is, oxbow log what was changed",
		},
		{verb.Notef("raise %s", verb.ParamRef("max_tokens")), "raise max_tokens", "raise --max-tokens"},
		{
			verb.Notef("%s, then wait", verb.PersonOnlyCommandRef("oxbow check")),
			"a person runs oxbow check, then wait",
			"run oxbow check, then wait",
		},
		{verb.PlainNote("100% nothing to say."), "100% nothing to say.", "100% nothing to say"},
	} {
		if c.in.String() != c.model || formatNote(c.in) != c.person {
			t.Errorf("note = %q to models and %q to people, want %q and %q", c.in, formatNote(c.in), c.model, c.person)
		}
	}
}
