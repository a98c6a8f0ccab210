// This file tests malicious requests and answers. They must be refused with a message, without a panic, and must not
// use much memory.

package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// asked sends a request to a handler and returns the answer. The status must be 200, or the answer must be a complete
// Problem whose status is not 500. A Problem tells the client what is wrong with the request.
func asked(t *testing.T, h http.Handler, method, target string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, routePrefix, body)
	route, query, _ := strings.Cut(target, "?")
	r.URL.Path, r.URL.RawQuery = routePrefix+route, query
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p Problem
	switch {
	case w.Code == http.StatusOK:
	case json.Unmarshal(w.Body.Bytes(), &p) != nil || p.Code == "" || p.Detail == "" || p.Status != w.Code ||
		w.Code == 500:
		t.Errorf("%s %.80s is answered with %d %.300s", method, target, w.Code, w.Body)
	}
	return w
}

// hostileBodies returns request bodies that each route must refuse.
func hostileBodies() []string {
	deep := strings.Repeat("[", 1_000_000)
	huge := strings.Repeat("n", 1<<20)
	return []string{
		"", "null", "[]", "{", "}", "1", `"ops"`, "{}{}", `{"ops":[]} x`, "\xff\xfe", "\x00", `{"ops":` +
			deep, deep, strings.Repeat(`{"ops":`, 100_000),
		`{"unknown":1}`, `{"ops":{}}`, `{"ops":null}`, `{"ops":[null]}`, `{"ops":[1]}`, `{"ops":[{}]}`,
		`{"ops":[{"frob":{"name":"a"}}]}`,
		`{"ops":[{"add":{"name":"a"},"remove":{"name":"a"}}]}`, `{"ops":[{"add":{"name":"a","extra":1}}]}`,
		`{"ops":[{"add":{"name":1}}]}`,
		`{"ops":[{"add":{"name":"a","kind":"frob"}}]}`, `{"ops":[{"add":{"name":"a","kind":3}}]}`,
		`{"ops":[{"add":{"name":"a","created":"yesterday"}}]}`,
		`{"ops":[{"add":{"name":"` + huge +
			`"}}]}`, `{"ops":[{"add":{"name":"\u0000"}}]}`, `{"ops":[{"add":{"name":"a","content":"\u0000"}}]}`,
		`{"ops":[{"update":{"name":"a","if":-1}}]}`, `{"ops":[{"update":{"name":"a","if":1e99}}]}`,
		`{"ops":[{"update":{"name":"a","if":99999999999999999999}}]}`,
		`{"ops":[{"relabel":{"name":"a","labels":[{"key":"Bad Key","value":"x"}]}}]}`,
		`{"ops":[{"alias":{"name":"a","aliases":` + deep + `}}]}`,
		`{"op_id":1}`, `{"since":"x"}`, `{"since":{"position":"!"}}`, `{"since":{"more":1}}`, `{"op_id":"` +
			strings.Repeat("x", 65) + `","ops":[{"add":{"name":"z"}}]}`, `{"claimed":"me"}`, `{"note":[]}`,
		`{"source":{"actor":"person"},"ops":[]}`,
		`{"seqs":"all"}`, `{"seqs":[-1]}`, `{"seqs":[1.5]}`, `{"name":"a","seq":"1"}`, `{"filter":1}`,
		`{"filter":{"terms":[{"key":1}]}}`, `{"filter":{"more":1}}`, `{"at":-1}`, `{"at":"x"}`,
		`{"OPS":[{"ADD":{"name":""}}]}`, `{"` + huge + `":1}`, `{"ops":[` +
			strings.Repeat(`{"remove":{"name":"a"}},`, 1000) + `]}`,
	}
}

func TestHostileRequests(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	h := Handler((&served{store: m}).open, nil)
	for name, route := range routes {
		if route.method != http.MethodPost {
			continue
		}
		for _, body := range hostileBodies() {
			w := asked(t, h, route.method, name, strings.NewReader(body))
			if tried := name == "dryrun" && strings.HasPrefix(body, `{"op_id":"xx`); w.Code == http.StatusOK &&
				!tried {
				t.Errorf("%s %.80q is answered with %s", name, body, w.Body)
			}
			if w.Body.Len() > 4*maxErrorDetailBytes {
				t.Errorf("%s %.80q is refused with %d bytes", name, body, w.Body.Len())
			}
		}
	}
	names := []string{"", "a", "\xff", "\x00", strings.Repeat("n", 1<<20), "../../etc/passwd", "%", "a&b"}
	for name, route := range routes {
		for _, p := range append(route.params, "other", "") {
			for _, v := range append(
				names,
				"-1",
				"1e9",
				"18446744073709551615",
				"18446744073709551616",
				"2026-04-18T12:00:00Z",
				"-2026-04-18T12:00:00Z",
				"AAAA",
				strings.Repeat("A", 86),
			) {
				asked(t, h, route.method, name+"?"+p+"="+url.QueryEscape(v), nil)
				asked(t, h, route.method, name+"?"+p+"="+v+"&"+p+"=", nil)
			}
		}
		for _, method := range []string{"HEAD", "PUT", "DELETE", "OPTIONS", "FROB", "GET", "POST"} {
			if w := asked(t, h, method, name, nil); method != route.method && w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s is answered with %d", method, name, w.Code)
			}
		}
	}
	for target, why := range map[string]string{"entry?name=a&other=1": "other", "entry?name=a&name=b": "name",
		"stats?at=1": "at", "asof?seq=x": "seq", "since?position=!": "position", "seqat?time=noon": "time"} {
		if w := asked(t, h, "GET", target, nil); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), why) {
			t.Errorf("%s is answered with %d %s", target, w.Code, w.Body)
		}
	}
	for _, name := range []string{"", "/", "apply/", "../apply", "APPLY", "apply\x00", strings.Repeat("a", 1<<20)} {
		if w := asked(t, h, "GET", name, nil); w.Code != http.StatusNotFound ||
			strings.Contains(w.Body.String(), "not_found") {
			t.Errorf("the route %.40q is answered with %d %.200s", name, w.Code, w.Body)
		}
	}
	if n := changes(t, m); n != 0 {
		t.Errorf("hostile requests made %d changes", n)
	}
}

// zeros is a JSON document that never ends.
type zeros struct{ head string }

func (z *zeros) Read(b []byte) (int, error) {
	if z.head != "" {
		n := copy(b, z.head)
		z.head = z.head[n:]
		return n, nil
	}
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

func TestLargeRequests(t *testing.T) {
	testenv.SkipInShortMode(t)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	h := Handler((&served{store: m}).open, nil)
	for name, head := range map[string]string{
		"entries": `{"filter":{"terms":[{"key":"`,
		"revert":  `{"seqs":[1`,
		"restore": `{"name":"`,
	} {
		if w := asked(t, h, "POST", name, &zeros{head}); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("an endless %s is answered with %d %.200s", name, w.Code, w.Body)
		}
	}
	// The longest content is accepted in any encoding. A content with one more byte is refused.
	c := dial(t, serve(t, m, nil))
	large := strings.Repeat("\x01", oxbow.MaxContent)
	if err := c.Apply(t.Context(), oxbow.Add{Name: "a", Content: large}); err != nil {
		t.Errorf("Apply() of the largest content = %v", err)
	}
	if e, err := c.Get(t.Context(), "a"); err != nil || e.Content != large {
		t.Errorf("Get() of the largest content = %d bytes, %v", len(e.Content), err)
	}
	for e, err := range c.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil || e.Content != large {
			t.Errorf("Entries() of the largest content = %d bytes, %v", len(e.Content), err)
		}
	}
	body := `{"ops":[{"add":{"name":"b","content":"` + strings.Repeat("x", oxbow.MaxContent+1) + `"}}]}`
	if w := asked(t, h, "POST", "apply", strings.NewReader(body)); w.Code != http.StatusBadRequest {
		t.Errorf("a content too large is answered with %d", w.Code)
	}
	var ops []oxbow.Op
	for i := range 6 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("c", i), Content: large})
	}
	if err := c.Apply(t.Context(), ops...); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "split it") {
		t.Errorf("Apply() of a change too large = %v", err)
	}
}

// TestHostileAnswers tests a client whose server sends invalid answers to every call. The call must return an error.
// Only Check, Stats, Position, Revert and AsOf may accept an answer that is valid JSON with status 200. The error must
// never be ErrNotFound. An endless answer must be refused.
func TestHostileAnswers(t *testing.T) {
	var status int
	var kind string
	var body func() io.Reader
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.Copy(w, body())
	}))
	defer srv.Close()
	c := dial(t, &served{url: srv.URL})
	ctx := t.Context()
	calls := func() map[string]error {
		_, get := c.Get(ctx, "a")
		_, check := c.Check(ctx)
		_, stats := c.Stats(ctx)
		_, position := c.Position(ctx)
		_, revert := c.Revert(ctx, 1)
		_, asOf := c.AsOf(ctx, 1)
		errs := map[string]error{"get": get, "check": check, "stats": stats, "position": position, "revert": revert,
			"asof": asOf}
		for name, got := range map[string]string{
			"entries":  all(t, c.Entries(ctx, oxbow.Filter{})),
			"log":      all(t, c.Log(ctx)),
			"versions": all(t, c.Versions(ctx, "a")),
			"since":    all(t, c.Since(ctx, "x")),
		} {
			if strings.HasPrefix(got, "error") {
				errs[name] = errors.New(got)
			}
		}
		return errs
	}
	texts := []string{"", "{", "[]", "<html>", "\xff", `{"id":"x"}`, `{"end":{"count":5}}`, "{}\n{}\n",
		`{"entry":{"id":1,"name":"a","kind":"frob"}}` + "\n",
		`{"seq":"1","entries":"2","id":-1,"records":[],"position":5}`, strings.Repeat("[", 1_000_000),
		strings.Repeat(`{"end":`, 100_000),
		`{"change":{"seq":1,"versions":1000000000}}` + "\n" + `{"end":{"count":1}}` +
			"\n", `{"change":{"seq":18446744073709551615}}` + "\n"}
	for _, status = range []int{200, 404, 500} {
		for _, kind = range []string{"application/json", "application/problem+json", "text/html"} {
			for _, s := range texts {
				body = func() io.Reader { return strings.NewReader(s) }
				for name, err := range calls() {
					if known := name == "check" || name == "stats" || name == "position" || name == "revert" ||
						name == "asof"; err == nil && !(known && json.Valid([]byte(s)) && status == 200) {
						t.Errorf("%s: %d %s %.60q is no error", name, status, kind, s)
					}
					if errors.Is(err, oxbow.ErrNotFound) {
						t.Errorf("%s: %d %s %.60q says that there is no entry: %v", name, status, kind, s, err)
					}
				}
			}
		}
	}
	if testing.Short() {
		return
	}
	status, kind = 200, "application/json"
	body = func() io.Reader { return &zeros{`{"entry":{"content":"`} }
	for name, err := range calls() {
		if !errors.Is(err, errInvalidAnswer) && !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s: an endless answer is %v", name, err)
		}
	}
}

// TestLongErrors checks that the client shortens long error messages of a server.
func TestLongErrors(t *testing.T) {
	long := strings.Repeat("x", 60_000)
	for _, answer := range []string{
		"HTTP/1.1 400 " + long + "\r\nContent-Length: 0\r\n\r\n",
		fmt.Sprintf(
			"HTTP/1.1 400 Bad\r\nContent-Type: application/problem+json\r\nConnection: "+
				"close\r\n\r\n{\"code\":\"x\",\"detail\":%q}",
			long,
		),
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, answer)
			_ = c.Close()
		}()
		c := dial(t, &served{url: "http://" + l.Addr().String()})
		if _, err := c.Get(t.Context(), "a"); err == nil || len(err.Error()) > maxErrorDetailBytes+1000 ||
			!strings.Contains(err.Error(), "xxx") {
			t.Errorf("Get() = %.100v…, want an error that is cut", err)
		}
		_ = l.Close()
	}
}

// TestOrderOfAnswers tests that the client refuses invalid lists of a server. The entries or changes may be in the
// wrong order, the end may be missing or have a wrong count, and a change may lack a version or have an invalid
// version.
func TestOrderOfAnswers(t *testing.T) {
	read := func(text string, next func(*streamReader) error) error {
		r := newStreamReader(strings.NewReader(text))
		for {
			if err := next(r); err != nil {
				return err
			}
		}
	}
	last := uint64(0)
	entry := func(r *streamReader) error {
		e, err := r.readEntry(last)
		last = e.ID
		return err
	}
	change := func(r *streamReader) error {
		c, err := r.readChange(last)
		last = c.Seq
		return err
	}
	one, two := `{"entry":{"id":1}}`+"\n", `{"entry":{"id":2}}`+"\n"
	if err := read(one+two+`{"end":{"count":2}}`+"\n", entry); err != io.EOF {
		t.Errorf("a sound list = %v", err)
	}
	for _, s := range []string{one + one + `{"end":{"count":2}}` + "\n", `{"delta":{"id":7}}` +
		"\n", `{"entry":{"id":0}}` + "\n" + `{"end":{"count":1}}` + "\n", one + `{"end":{"count":2}}` + "\n", one +
		`{"end":{"count":0}}` + "\n", one + `{"end":{"count":1}}`} {
		last = 0
		if read(s, entry) == io.EOF {
			t.Errorf("%q is a sound list", s)
		}
	}
	for _, s := range []string{`{"change":{"seq":9}}` + "\n" + `{"end":{"count":1}}` +
		"\n", `{"change":{"seq":3,"versions":1}}` + "\n" + `{"end":{"count":1}}` + "\n",
		`{"change":{"seq":3,"versions":1}}` + "\n" + `{"version":{"seq":3,"verb":"frob","entry":{}}}` + "\n" +
			`{"end":{"count":2}}` + "\n",
		`{"change":{"seq":3,"versions":1}}` + "\n" + `{"version":{"seq":3,"verb":"add"}}` + "\n" +
			`{"end":{"count":2}}` + "\n"} {
		last = 9
		if read(s, change) == io.EOF {
			t.Errorf("%q is a sound log", s)
		}
	}
}

// FuzzApply checks that a decoded change is either refused as invalid, or is the same after it was encoded and decoded
// again.
func FuzzApply(f *testing.F) {
	for _, s := range hostileBodies() {
		if len(s) < 1000 {
			f.Add(s)
		}
	}
	f.Add(
		`{"op_id":"x","note":"n","claimed":{"client":"c","agent":"a"},"ops":[{"add":{"name":"a","kind":"world","content":"é","aliases":["x"],"labels":[{"key":"tag","value":"t"}],"created":"2026-04-18T12:00:00.5+02:00","unique_aliases":true}},{"update":{"name":"a","content":"","if":7}},{"alias":{"name":"a","aliases":[]}},{"relabel":{"name":"a","labels":null}},{"remove":{"name":"a"}}],"since":{"position":"AAAA"}}`,
	)
	f.Fuzz(func(t *testing.T, s string) {
		w, ops, err := decodeApplyRequest(strings.NewReader(s))
		if err != nil {
			if p := MakeProblem(err); p.Status != http.StatusBadRequest {
				t.Fatalf("%q is refused with %v, %d", s, err, p.Status)
			}
			return
		}
		ws, err := encodeOps(ops)
		if err != nil {
			t.Fatalf("%q is read, and not written: %v", s, err)
		}
		b, err := encodeJSON(wireApplyRequest{w.wireChangeMetadata, ws, w.Since})
		if err != nil {
			t.Fatalf("%q is read, and not written: %v", s, err)
		}
		w2, ops2, err := decodeApplyRequest(strings.NewReader(string(b)))
		if err != nil || !reflect.DeepEqual(w2, w) || len(ops2) != len(ops) {
			t.Fatalf("%s is read as %+v, %d ops, %v", b, w2, len(ops2), err)
		}
		for i := range ops {
			if a, ok := ops[i].(oxbow.Add); ok {
				a.Created = a.Created.UTC()
				ops[i] = a
			}
			if len(s) < 10_000 && fmt.Sprint(ops[i]) != fmt.Sprint(ops2[i]) {
				t.Fatalf("%+v comes back as %+v", ops[i], ops2[i])
			}
		}
	})
}

// FuzzStream checks that reading arbitrary bytes as a stream returns lines or an error, and ends.
func FuzzStream(f *testing.F) {
	f.Add(
		`{"entry":{"id":1,"name":"a","kind":"note","content":"x","version":1,"source":{"time":"2026-04-18T12:00:00Z"}}}` + "\n" + `{"end":{"count":1}}` + "\n",
	)
	f.Add(`{"change":{"seq":2,"time":"2026-04-18T12:00:00Z","source":{"time":"2026-04-18T12:00:00Z"},"versions":1}}` +
		"\n" + `{"version":{"seq":2,"verb":"add","entry":{"id":1}}}` + "\n" + `{"end":{"count":2}}` + "\n")
	f.Add(`{"delta":{"id":1}}` + "\n" + `{"problem":{"status":500,"code":"corrupt","detail":"x"}}` + "\n")
	f.Fuzz(func(t *testing.T, s string) {
		for i := range 4 {
			r, n := newStreamReader(strings.NewReader(s)), 0
			var err error
			for ; err == nil; n++ {
				switch i {
				case 0:
					_, err = r.readEntry(0)
				case 1:
					_, err = r.readDelta()
				case 2:
					_, err = r.readVersion(1 << 40)
				case 3:
					_, err = r.readChange(1 << 40)
				}
			}
			if n > strings.Count(s, "\n")+1 {
				t.Fatalf("%q has %d lines", s, n)
			}
			if err == io.EOF && (r.endLine == nil || r.endLine.LineCount != r.lineCount) {
				t.Fatalf("%q has an end without one", s)
			}
		}
	})
}

// TestForms tests that filters and check reports are unchanged after they were encoded and decoded. There are three
// exceptions in filters. A key that is not valid UTF-8 is replaced and loses its values. A value that is not valid
// UTF-8 is dropped. A time that JSON cannot represent is replaced by the nearest time that JSON can represent. An
// operation with such a time cannot be encoded and fails with ErrInvalid.
func TestForms(t *testing.T) {
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	f := oxbow.Filter{
		Terms: []oxbow.Term{
			{Key: "tag", Values: []string{"a", "\xff"}, Not: true},
			{Key: "\xff", Values: []string{"x"}},
		},
		After:  first.AddDate(-1, 0, 0),
		Before: last.AddDate(5, 0, 0),
	}
	b, err := encodeJSON(toWireFilter(f))
	var w wireFilter
	if err != nil || decodeDocument(strings.NewReader(string(b)), &w) != nil {
		t.Fatalf("a filter is written as %s, %v", b, err)
	}
	want := oxbow.Filter{
		Terms:  []oxbow.Term{{Key: "tag", Values: []string{"a"}, Not: true}, {Key: "\ufffd", Values: []string{}}},
		After:  first,
		Before: last,
	}
	if got := w.toFilter(); !reflect.DeepEqual(got, want) {
		t.Errorf("the filter comes back as %+v, want %+v", got, want)
	}
	if got := (wireFilter{}).toFilter(); !got.IsZero() {
		t.Errorf("no filter comes back as %+v", got)
	}
	for _, r := range []oxbow.CheckReport{
		{},
		{Path: "p", Records: 1, Entries: 2, Bytes: 3, First: 4, Last: 5, Head: "h",
			Problems: []oxbow.Problem{{Offset: -1, What: "w", Mend: "m"}}},
	} {
		b, err := encodeJSON(toWireReport(r))
		var w wireReport
		if err != nil || json.Unmarshal(b, &w) != nil || !reflect.DeepEqual(w.toReport(), r) {
			t.Errorf("the report %+v is written as %s, %v", r, b, err)
		}
	}
	if _, err := encodeOps([]oxbow.Op{
		oxbow.Add{Name: "a", Created: last.AddDate(1, 0, 0)},
	}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("a time that JSON cannot hold = %v, want ErrInvalid", err)
	}
}

// TestBlankRequest tests that decodeApplyRequest and decodeDocument return ErrInvalid for a request with 4 MB of
// spaces, which is more white space than a program writes.
func TestBlankRequest(t *testing.T) {
	blank := strings.Repeat(" ", 4<<20)
	requests := []string{blank + `{"note":"x"}`, `{"note":` + blank + `"x"}`, `{"ops":[` + blank + `]}`, `{}` + blank}
	for _, s := range requests {
		if _, _, err := decodeApplyRequest(strings.NewReader(s)); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("decodeApply of a request with 4 MB of spaces: got %v, want ErrInvalid", err)
		}
		if err := decodeDocument(strings.NewReader(s), new(map[string]any)); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("decodeDocument of a document with 4 MB of spaces: got %v, want ErrInvalid", err)
		}
	}
}
