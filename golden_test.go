// This file compares recall with golden files, which contain hits, the exact bits of their scores, explanations and
// diagnoses. The entries have several kinds and languages. The golden files show whether a change of the index or of
// the ranking changes any answer.

package oxbow_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

const indexSuffix = index.FileSuffix

var (
	goldenNow  = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	goldenFrom = time.Date(2025, 11, 3, 8, 0, 0, 0, time.UTC)
)

// goldenWords are the words from which random texts are made. Each list contains words of one language, and the last
// list contains words of program code.
var goldenWords = [][]string{
	strings.Fields(
		"the we of harbor lantern bought buying city cities deploys deploying server's rollback memory lane " +
			"error-handling Tuesday invoice customer running quickly analyses index searching tests latency boats " +
			"travelled",
	),
	strings.Fields(
		"der die das Straße Häuser Überprüfung läuft größer Schlüssel Datenbank Fehlerbehebung schreiben gelesen " +
			"Bäckerei",
	),
	strings.Fields("le la les déjà été chaîne requête mémoire œuvre façade naïve garçon système erreurs"),
	strings.Fields("el la señor mañana corazón índice búsqueda niño rápido código español"),
	strings.Fields("東京都 天気 記憶 検索 エンジン 会議 予定 データベース 漢字 大阪"),
	strings.Fields("北京 天气 记忆 搜索 引擎 会议 数据库 错误 服务器 部署"),
	strings.Fields("서울 날씨 기억 검색 엔진 회의 데이터베이스 오류 서버 배포"),
	strings.Fields(
		"getUserName get_user_name internal/near.go v1.2.3 1,000 C++ HTTPServer parseJSON user-name README.md " +
			"2026-04-12 x86_64 foo.Bar() err!=nil",
	),
}

func goldenText(r *rand.Rand, n int) string {
	var b strings.Builder
	own := goldenWords[r.IntN(len(goldenWords))]
	for i := range n {
		ws := own
		if r.IntN(3) == 0 {
			ws = goldenWords[r.IntN(len(goldenWords))]
		}
		w := ws[min(r.IntN(len(ws)), r.IntN(len(ws)))]
		b.WriteString(w)
		switch {
		case i+1 == n:
		case i%17 == 16:
			b.WriteString(".\n\n")
		case i%9 == 8:
			b.WriteString(". ")
		default:
			b.WriteString(" ")
		}
	}
	return b.String()
}

// goldenOps returns the changes that fill a memory: notes, chats, entries of other kinds, and the turns of several
// conversations.
func goldenOps() []oxbow.Op {
	r := rand.New(rand.NewPCG(7, 11))
	var ops []oxbow.Op
	speakers := []string{"Caroline", "Melanie Smith", "Jürgen"}
	for i := range 280 {
		a := oxbow.Add{
			Name:    fmt.Sprintf("note %d %s", i, strings.ReplaceAll(goldenText(r, 1+r.IntN(2)), "\n", " ")),
			Content: goldenText(r, 4+r.IntN(60)),
			Kind:    oxbow.Kind(i % 6),
			Created: goldenFrom.Add(time.Duration(i*13) * time.Hour),
		}
		switch i % 7 {
		case 1:
			a.Labels = []oxbow.Label{{Key: "project", Value: "harbor"}, {Key: "tag", Value: goldenWords[0][i%20]}}
		case 2:
			a.Labels = []oxbow.Label{{Key: "project", Value: "lantern"}, {Key: oxbow.LabelConfidence, Value: "0.5"}}
		case 3:
			a.Aliases = []string{fmt.Sprintf("alias %d city", i)}
		case 4:
			a.Content = "user: " + goldenText(r, 9) + "\n\nassistant: " + goldenText(r, 20) + "\n\nuser: " +
				goldenText(r, 5)
		case 5:
			a.Content = goldenText(r, 1)
		}
		ops = append(ops, a)
	}
	for s := range 6 {
		for i := range 30 {
			text := speakers[(i+s)%3] + ": " + goldenText(r, 3+r.IntN(14))
			if r.IntN(3) == 0 {
				text += " yesterday, last week in May"
			}
			if r.IntN(4) == 0 {
				text += "?"
			}
			ops = append(ops, oxbow.Add{Name: fmt.Sprintf("turn %d-%d", s, i), Content: text, Kind: oxbow.Archive,
				Created: goldenFrom.Add(time.Duration(s*700)*time.Hour + time.Duration(i)*time.Minute),
				Labels:  []oxbow.Label{{Key: "session", Value: fmt.Sprint("s", s)}}})
		}
	}
	return ops
}

// goldenChanges returns changes to the entries of goldenOps: updates, removals and new entries. After these changes,
// the test asks all its queries again.
func goldenChanges() []oxbow.Op {
	r := rand.New(rand.NewPCG(5, 3))
	var ops []oxbow.Op
	for i, op := range goldenOps() {
		a := op.(oxbow.Add)
		switch i % 8 {
		case 2:
			ops = append(
				ops,
				oxbow.Update{Name: a.Name, Content: goldenText(r, 12), Labels: a.Labels, Aliases: a.Aliases},
			)
		case 5:
			ops = append(ops, oxbow.Remove{Name: a.Name})
		}
	}
	for i := range 40 {
		ops = append(
			ops,
			oxbow.Add{
				Name:    fmt.Sprint("late ", i),
				Content: goldenText(r, 5+r.IntN(30)),
				Kind:    oxbow.Note,
				Created: goldenFrom.Add(time.Duration(i) * time.Hour),
			},
		)
	}
	return ops
}

// goldenQueries returns the queries of the test. They contain words, misspelled words, phrases, operators, prefixes,
// filters and dates.
func goldenQueries() []string {
	r := rand.New(rand.NewPCG(2, 9))
	qs := []string{
		"", "the", "what is the", "who", "zzzz", "harbour", "lantrn", "deplyo the sever", "getUserName",
		"get user name", "near.go", "internal/near.go",
		"v1.2.3", "C++", "1000", "東京", "東京都の天気", "天気", "天气", "서울 날씨", "데이터베이스", "数据库 错误", "漢字", "strasse", "haeuser",
		"ueberpruefung", "Überprüfung",
		"oeuvre facade", "manana corazon", `"memory lane"`, `"lane memory"`, "+harbor boats", "boats -harbor",
		`boats -"memory lane"`, "-harbor", "+東京都", "dep*", "data*", "会*",
		"index searching harbor lantern bought city", "when did Caroline travel", "what did Melanie buy",
		"Jürgen error", "how long did the tests run", "what year is the invoice",
		"did you buy the boats?", "caroline melanie", "error handling in the index", "yesterday", "last week",
		"in May 2026", "november 2025", "2026-04-12", "since january boats",
		"project:harbor", "project:harbor boats", "-project:harbor boats", "kind:archive memory", "tag:city",
		"has:tag deploys", "has:project", "-has:project latency", "name:note boats",
		"name:\"turn 3-4\"", "session:s3 memory", "confidence:>0.4", "confidence:<0.4 harbor",
		"after:2026-01-01 harbor", "before:2025-12-01 harbor", "after:2025-12-01 before:2026-02-01", "by:agent harbor",
		"kind:note kind:journal city",
		"project:habor boats", "project:none zzzz", "harbor harbor harbor lantern", "the harbor of the city",
		"alias city", "note 17", "turn 2-5", "late 7",
	}
	for range 75 {
		qs = append(qs, strings.ReplaceAll(goldenText(r, 1+r.IntN(5)), ".\n\n", " "))
	}
	return qs
}

// goldenAnswers runs each golden query with the rankings RankOxbow and RankSeed. It returns a text with all queries and
// their answers. For a query that cannot be parsed, the text contains the error.
func goldenAnswers(t *testing.T, m *oxbow.Memory) []byte {
	t.Helper()
	var b bytes.Buffer
	for i, text := range goldenQueries() {
		q, err := query.Parse(text, goldenNow)
		if err != nil {
			fmt.Fprintf(&b, "%q: %v\n", text, err)
			continue
		}
		q.Limit = []int{5, 10, 25, 300}[i%4]
		q.Explain = i%3 != 0
		q.Collapse = i%5 == 4
		if i%6 == 5 {
			q.Recency, q.Now = 20*24*time.Hour, goldenNow
		}
		for _, q.Rank = range []string{oxbow.RankOxbow, oxbow.RankSeed} {
			fmt.Fprintf(&b, "%q %s %d\n", text, q.Rank, q.Limit)
			goldenAnswer(t, &b, m, q)
		}
	}
	return b.Bytes()
}

func goldenAnswer(t *testing.T, b *bytes.Buffer, m *oxbow.Memory, q oxbow.Query) {
	t.Helper()
	hits, readWithHits, err := m.RecallParsed(t.Context(), q)
	if err != nil {
		t.Fatalf("RecallParsed(%q): %v", q.Text, err)
	}
	sum := crc32.NewIEEE()
	for i, h := range hits {
		if h.Explanation != nil {
			fmt.Fprintf(sum, "%v", *h.Explanation)
		}
		fmt.Fprintf(sum, "%q %d %d %q", h.Alike, h.Entry.ID, h.Entry.Version, h.Entry.Content)
		if i < 10 {
			fmt.Fprintf(b, "  %016x %s\n", math.Float64bits(h.Score), h.Entry.Name)
		} else {
			fmt.Fprintf(sum, "%016x %s\n", math.Float64bits(h.Score), h.Entry.Name)
		}
	}
	if len(hits) > 0 && hits[0].Explanation != nil && q.Rank == oxbow.RankOxbow {
		fmt.Fprintf(b, "  %v\n", *hits[0].Explanation)
	}
	read, err := m.ParseQuery(t.Context(), q)
	if err != nil || !reflect.DeepEqual(read, readWithHits) {
		t.Fatalf("ParseQuery(%q) = %+v, %v, but RecallParsed reports %+v", q.Text, read, err, readWithHits)
	}
	d, err := m.Diagnose(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	about := fmt.Sprintf("%v %v", asRead(read), asDiagnosed(d))
	fmt.Fprint(sum, about)
	if len(hits) == 0 {
		fmt.Fprintf(b, "  %s\n", about)
	}
	fmt.Fprintf(b, "  %d hits, %08x\n", len(hits), sum.Sum32())
}

// asRead returns how a query was parsed: the ranking, the terms, the field StopWords and the dates. For each term, it
// returns only the fields Word, Term and Corrected, and leaves out the counts.
func asRead(q oxbow.ParsedQuery) any {
	type term struct {
		Word, Term string
		Corrected  bool
	}
	terms := make([]term, len(q.Terms))
	for i, t := range q.Terms {
		terms[i] = term{t.Word, t.Term, t.Corrected}
	}
	return struct {
		Rank      string
		Terms     []term
		StopWords bool
		Dates     []oxbow.Span
	}{q.Rank, terms, q.StopWords, q.Dates}
}

// asDiagnosed returns the parts of a diagnosis that the golden file covers. For each term of the query, it keeps the
// word and DF (the number of entries that contain the term), and drops Term, Corrected and IDF. It replaces each
// removed condition by its short form.
func asDiagnosed(d oxbow.Diagnosis) any {
	type term struct {
		Word string
		DF   int
	}
	terms := make([]term, len(d.Terms))
	for i, t := range d.Terms {
		terms[i] = term{t.Word, t.DF}
	}
	type effect struct {
		Filter string
		Left   int
	}
	var removed []effect
	for _, e := range d.Removed {
		removed = append(removed, effect{e.String(), e.Left})
	}
	return struct {
		Entries    int
		Terms      []term
		StopWords  bool
		Unfiltered int
		Removed    []effect
		Near       []string
	}{d.Entries, terms, d.StopWords, d.Unfiltered, removed, d.Near}
}

// goldenHome is a file system that contains one memory. The memory's clock shows the time now, which each change
// advances by a minute.
type goldenHome struct {
	t   *testing.T
	fs  vfs.FS
	now time.Time
}

func newGoldenHome(t *testing.T) *goldenHome {
	return &goldenHome{t, vfs.NewMem(), goldenFrom.Add(3000 * time.Hour)}
}

func (h *goldenHome) open() *oxbow.Memory {
	h.t.Helper()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: h.fs, Clock: func() time.Time {
		return h.now
	}, Rand: rand.NewChaCha8([32]byte{1})})
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

func (h *goldenHome) apply(m *oxbow.Memory, ops []oxbow.Op, each func(i int)) {
	h.t.Helper()
	ctx := oxbow.WithSource(h.t.Context(), oxbow.Source{Actor: oxbow.Agent, Door: "test"})
	for i, op := range ops {
		h.now = h.now.Add(time.Minute)
		if err := m.Apply(ctx, op); err != nil {
			h.t.Fatal(err)
		}
		each(i)
	}
}

func (h *goldenHome) close(m *oxbow.Memory) {
	h.t.Helper()
	if err := m.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// indexFile returns the bytes of the index file, or nil if there is no index file.
func (h *goldenHome) indexFile() []byte {
	b, err := vfs.ReadFile(h.fs, "memory.oxbow"+indexSuffix, 1<<30)
	if err != nil {
		return nil
	}
	return b
}

func goldenCompare(t *testing.T, file, how string, got []byte) {
	t.Helper()
	name := "testdata/" + file
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	gs, ws := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	query := ""
	for i := range min(len(gs), len(ws)) {
		if strings.HasPrefix(ws[i], `"`) {
			query = ws[i]
		}
		if gs[i] != ws[i] {
			t.Errorf("%s, %s, line %d, after %s:\n got %s\nwant %s", file, how, i+1, query, gs[i], ws[i])
			return
		}
	}
	t.Errorf("%s, %s: %d lines, want %d", file, how, len(gs), len(ws))
}

// TestGoldenIndexFile opens a store together with an index file. It does this for an index file of each format version.
// The answers must be the same as without an index file.
func TestGoldenIndexFile(t *testing.T) {
	const store = "testdata/index.oxbow"
	if flag.Lookup("update").Value.String() == "true" {
		writeGoldenIndex(t, store)
	}
	log, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(store + ".*" + indexSuffix)
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no index files: %v", err)
	}
	home := func(index string) *goldenHome {
		h := newGoldenHome(t)
		write := func(name string, b []byte) {
			if err := vfs.WriteDerived(h.fs, name, 0o600, b); err != nil {
				t.Fatal(err)
			}
		}
		write("memory.oxbow", log)
		if index != "" {
			b, err := os.ReadFile(index)
			if err != nil {
				t.Fatal(err)
			}
			write("memory.oxbow"+indexSuffix, b)
		}
		return h
	}
	bare := home("")
	m := bare.open()
	want := goldenAnswers(t, m)
	bare.close(m)
	for _, file := range files {
		h := home(file)
		for range 2 { // The second time, the index file is the file that the first time has left.
			m := h.open()
			if got := goldenAnswers(t, m); !bytes.Equal(got, want) {
				t.Errorf("%s: the answers are others than without it", file)
			}
			h.close(m)
		}
	}
}

// writeGoldenIndex writes the store and an index file of today's format.
func writeGoldenIndex(t *testing.T, store string) {
	h := newGoldenHome(t)
	m := h.open()
	r := rand.New(rand.NewPCG(3, 4))
	var ops []oxbow.Op
	for i := range 300 {
		ops = append(
			ops,
			oxbow.Add{
				Name:    fmt.Sprint("note ", i),
				Content: goldenText(r, 5),
				Created: goldenFrom.Add(time.Duration(i) * time.Hour),
			},
		)
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	goldenAnswers(t, m)
	h.close(m)
	log, err := vfs.ReadFile(h.fs, "memory.oxbow", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	index := h.indexFile()
	format := binary.LittleEndian.Uint32(index[8:])
	for name, b := range map[string][]byte{store: log, fmt.Sprintf("%s.%d%s", store, format, indexSuffix): index} {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGoldenRecall(t *testing.T) {
	testenv.SkipInShortMode(t)
	h := newGoldenHome(t)
	m := h.open()
	h.apply(m, goldenOps(), func(int) {})
	goldenCompare(t, "recall.golden", "a fresh memory", goldenAnswers(t, m))
	h.close(m)
	if len(h.indexFile()) == 0 {
		t.Fatal("no index file was written")
	}

	m = h.open()
	goldenCompare(t, "recall.golden", "reopened with its index file", goldenAnswers(t, m))
	h.apply(m, goldenChanges(), func(i int) {
		if i%7 == 0 { // so that the index takes the changes a few at a time
			if _, err := m.Recall(
				t.Context(),
				oxbow.Query{Text: "harbor", Rank: []string{"", oxbow.RankSeed}[i%2]},
			); err != nil {
				t.Fatal(err)
			}
		}
	})
	goldenCompare(t, "changed.golden", "changed", goldenAnswers(t, m))
	h.close(m)
	m = h.open()
	goldenCompare(t, "changed.golden", "changed, reopened", goldenAnswers(t, m))
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), h.now, false); err != nil {
		t.Fatal(err)
	}
	goldenCompare(t, "changed.golden", "compacted", goldenAnswers(t, m))
	h.close(m)
	m = h.open()
	goldenCompare(t, "changed.golden", "compacted, reopened", goldenAnswers(t, m))
	h.close(m)
}
