// Tests the effect of permissions and the parsing of token files.

package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestAnd(t *testing.T) {
	for _, tt := range []struct {
		name       string
		a, b, want Permissions
		wrong      string
	}{
		{"nothing", Permissions{}, Permissions{}, Permissions{}, ""},
		{"one side", Permissions{ReadOnly: true, Profile: "vtt"},
			Permissions{Projects: []string{"a"}, Kinds: []string{"note"}},
			Permissions{ReadOnly: true, Profile: "vtt", Projects: []string{"a"}, Kinds: []string{"note"}}, ""},
		{"both", Permissions{Projects: []string{"a", "b", "c"}, Profile: "vtt"},
			Permissions{Projects: []string{"c", "x", "a"}, Profile: "vtt"},
			Permissions{Projects: []string{"c", "a"}, Profile: "vtt"}, ""},
		{"no project in common", Permissions{Projects: []string{"a"}}, Permissions{Projects: []string{"b"}},
			Permissions{}, "none of those that are allowed already: a"},
		{"no kind in common", Permissions{Kinds: []string{"note"}}, Permissions{Kinds: []string{"world"}},
			Permissions{}, "none of those"},
		{"two profiles", Permissions{Profile: "a"}, Permissions{Profile: "b"}, Permissions{}, `is not "a"`},
	} {
		got, err := tt.a.Intersect(tt.b)
		if tt.wrong != "" {
			if !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(fmt.Sprint(err), tt.wrong) {
				t.Errorf("%s: And = %v, want an error with %q", tt.name, err, tt.wrong)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: And = %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

// TestScope tests which entries of a real memory a client may see and change if the scope of its permissions is
// combined with another scope.
func TestScope(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	ctx := t.Context()
	of := func(project string) []oxbow.Label { return []oxbow.Label{{Key: oxbow.LabelProject, Value: project}} }
	if err := m.Apply(
		ctx,
		oxbow.Add{Name: "a", Content: "a", Labels: of("a")},
		oxbow.Add{Name: "b", Content: "b", Labels: of("b")},
		oxbow.Add{Name: "c", Content: "c", Labels: of("c")},
		oxbow.Add{Name: "j", Kind: oxbow.Journal, Content: "j", Labels: of("b")},
	); err != nil {
		t.Fatal(err)
	}
	if _, ok := (Permissions{Profile: "vtt"}).Scope("x"); ok {
		t.Error("rights that bound nothing but a profile made a scope")
	}
	bottom, _ := Permissions{Projects: []string{"b", "c"}}.Scope("the lower rights")
	top, ok := Permissions{
		Projects: []string{"a", "c", "b"},
		Kinds:    []string{"note"},
	}.Scope(
		"the upper rights",
		bottom,
	)
	if !ok {
		t.Fatal("rights that bound made no scope")
	}
	v := scope.Within(scope.Within(m, bottom), top)
	var names []string
	for e, err := range v.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	if !slices.Equal(names, []string{"b", "c"}) {
		t.Errorf("seen are %v, want b and c", names)
	}
	// The new entry gets the first project of the upper permissions that the lower permissions allow.
	if e, err := v.Remember(ctx, oxbow.Entry{Name: "new", Content: "x"}); err != nil ||
		!slices.Equal(e.Values(oxbow.LabelProject), []string{"c"}) {
		t.Errorf("Remember = %+v, %v, want project c", e.Labels, err)
	}
	for _, e := range []oxbow.Entry{
		{Name: "n", Content: "x", Labels: of("a")},
		{Name: "n", Content: "x", Kind: oxbow.Journal},
		{Name: "n", Content: "x", Labels: of("d")},
	} {
		if _, err := v.Remember(ctx, e); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Remember(%+v) = %v, want that it is refused", e, err)
		}
	}
	ro, _ := Permissions{ReadOnly: true}.Scope("the rights of this server")
	if _, err := scope.Within(m, ro).Remember(ctx, oxbow.Entry{Content: "x"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Remember = %v, want that only reading is allowed", err)
	}
	if e, err := scope.Within(m, ro).Get(ctx, "a"); err != nil || e.Content != "a" {
		t.Errorf("Get = %+v, %v, want the entry", e, err)
	}
}

func TestFitWithoutChoice(t *testing.T) {
	below := scope.Scope{Only: []oxbow.Term{{Key: "project", Values: []string{"x"}}}}
	s := FitAddedLabelsToScopes(
		scope.Scope{Own: []oxbow.Label{{Key: "project", Value: "y"}, {Key: "profile", Value: "p"}}},
		below,
	)
	if !slices.Equal(s.Own, []oxbow.Label{{Key: "profile", Value: "p"}}) {
		t.Errorf("Own = %v, want the profile alone", s.Own)
	}
}

const secret = "a-secret-of-24-characters"

func digest(s string) string {
	b := sha256.Sum256([]byte(s))
	return hashedSecretPrefix + hex.EncodeToString(b[:])
}

func TestParseTokens(t *testing.T) {
	ts, _, err := ParseTokens("tokens", []byte("\ufeff# clients\n\n  ci\t"+secret+
		"  ro project=harbor project=\"old \\\"harbor\\\"\" kind=note # reads\r\n"+
		"vtt "+digest("another long secret, with spaces")+" rw profile=vtt-developer\n"+"all sixteen#letters! rw"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Token{
		{
			Name:   "ci",
			Line:   3,
			Rights: Permissions{ReadOnly: true, Projects: []string{"harbor", `old "harbor"`}, Kinds: []string{"note"}},
		},
		{Name: "vtt", Line: 4, Rights: Permissions{Profile: "vtt-developer"}},
		{Name: "all", Line: 5},
	}
	if len(ts) != len(want) {
		t.Fatalf("%d tokens, want %d", len(ts), len(want))
	}
	for i, s := range []string{secret, "another long secret, with spaces", "sixteen#letters!"} {
		got, ok := ts.FindBySecret(s)
		got.secretDigest = [sha256.Size]byte{}
		if !ok || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("Find(%q) = %+v, %v, want %+v", s, got, ok, want[i])
		}
	}
	for _, s := range []string{"", secret[1:], secret +
		"x", strings.ToUpper(secret), digest(secret),
		strings.TrimPrefix(digest("another long secret, with spaces"), hashedSecretPrefix)} {
		if got, ok := ts.FindBySecret(s); ok {
			t.Errorf("Find(%q) = %+v, want none", s, got)
		}
	}
	if _, ok := (Tokens{NewToken("", "", Permissions{})}).FindBySecret(""); ok {
		t.Error("the empty secret was let in")
	}
}

func TestParseTokensDiagnostics(t *testing.T) {
	line := "ci " + secret + " "
	for _, tt := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "# nothing\n", []string{"tokens: holds no token"}},
		{"short line", "\nci " + secret, []string{"tokens:2: a token is NAME SECRET ro"}},
		{"rights", line + "r", []string{"tokens:1: the rights of token \"ci\" are neither ro nor rw"}},
		{"short secret", "ci abc rw", []string{"tokens:1: the secret is shorter than 16 characters"}},
		{"secret of other letters", "ci sécret-of-some-length rw", []string{"cannot"}},
		{"digest cut short", "ci " + digest(secret)[:60] + " rw", []string{"64 hexadecimal digits"}},
		{"name", "c/i " + secret + " rw", []string{"letters, digits"}},
		{"long name", strings.Repeat("c", 65) + " " + secret + " rw", []string{"this has 65"}},
		{"empty name", `"" ` + secret + " rw", []string{"this has 0"}},
		{"quote", line + `rw project="a`, []string{"a quote does not end"}},
		{"bad quote", line + `rw project="\q"`, []string{"quote"}},
		{"unknown", line + "rw projects=a", []string{`"projects" is not known; did you mean project=VALUE?`}},
		{"unknown at all", line + "rw x=y", []string{"what can follow"}},
		{"no value", line + "rw kind=", []string{"write kind=VALUE"}},
		{"no sign", line + "rw kind", []string{"write kind=VALUE"}},
		{"kind", line + "rw kind=nonsense", []string{"nonsense"}},
		{"project", line + `rw project="a\nb"`, []string{"tokens:1"}},
		{"profile", line + "rw profile=a/b", []string{"profile name"}},
		{"two profiles", line + "rw profile=a profile=b", []string{`this has "a" and "b"`}},
		{"twice", line + "rw\nci other-secret-of-length rw\nvtt " + digest(secret) +
			" ro\n", []string{"tokens:2: there is a token \"ci\" already, in line 1",
			`tokens:3: token "vtt" has the secret of "ci", in line 1`}},
		{"not text", "ci \xff", []string{"not UTF-8"}},
		{"long", strings.Repeat("#\n", MaxTokenFileBytes/2+1), []string{"more than"}},
	} {
		ts, _, err := ParseTokens("tokens", []byte(tt.file))
		if ts != nil || !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("%s: ParseTokens = %v, %v, want an error that matches ErrInvalid", tt.name, ts, err)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q, want %q in it", tt.name, err, w)
			}
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error holds the secret: %q", tt.name, err)
		}
	}
	var many strings.Builder
	for i := range maxTokensPerFile + 1 {
		fmt.Fprintf(&many, "t%d %s-%d rw\n", i, secret, i)
	}
	if _, _, err := ParseTokens("tokens", []byte(many.String())); err == nil ||
		!strings.Contains(err.Error(), "tokens:1001: there are more than 1000") {
		t.Errorf("a file of too many tokens gave %v", err)
	}
}

// FuzzParseTokens parses arbitrary token files. ParseTokens must return either tokens or an error, and an error must
// begin with the file's name. The names of the tokens must be valid and different. A secret that is not in the file
// must not find a token, unless the file contains hashed secrets.
func FuzzParseTokens(f *testing.F) {
	f.Add("ci a-secret-of-24-characters ro project=harbor # x\n")
	f.Add("vtt sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 rw profile=vtt\r\n")
	f.Add("x \"a quoted secret of length\" rw kind=note kind=\"journal\"")
	f.Add("\ufeff\n\n# only\n")
	f.Fuzz(func(t *testing.T, file string) {
		ts, _, err := ParseTokens("tokens", []byte(file))
		if (err == nil) != (len(ts) > 0) {
			t.Fatalf("%d tokens and %v", len(ts), err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "tokens:") {
			t.Errorf("%q does not say where", err)
		}
		names := map[string]bool{}
		for _, tk := range ts {
			if names[tk.Name] || checkName(tk.Name) != nil || tk.Rights.CheckProjectsAndKinds() != nil {
				t.Errorf("token %+v is odd", tk)
			}
			names[tk.Name] = true
		}
		for _, s := range []string{"", "x", file} {
			if tk, ok := ts.FindBySecret(s); ok && !strings.Contains(file, hashedSecretPrefix) &&
				!strings.Contains(file, s) {
				t.Errorf("%q found %+v", s, tk)
			}
		}
	})
}

func TestString(t *testing.T) {
	for _, tt := range []struct {
		r    Permissions
		want string
	}{
		{Permissions{}, "reads and writes all of the memory"},
		{
			Permissions{ReadOnly: true, Profile: "vtt", Projects: []string{"a", "b"}, Kinds: []string{"note"}},
			`reads what is of profile "vtt" and project a or b and kind note`,
		},
	} {
		if got := tt.r.String(); got != tt.want {
			t.Errorf("String = %q, want %q", got, tt.want)
		}
	}
}
