//go:build unix

// Package answers tests the answers of the built program while several processes write to the same home. Each answer
// must refer to the change that its own call made, and no call that the program received may be lost. If OXBOW_LONG is
// set, the tests run in their long form:
//
//	OXBOW_LONG=1 go test -v -timeout 30m ./answers
//
// OXBOW_PROGRAM can specify another build of the program, for example an older one. The tests then use this build.
package answers

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// count returns the number of calls that a test makes. It returns short or long, depending on OXBOW_LONG.
func count(short, long int) int {
	if os.Getenv("OXBOW_LONG") != "" {
		return long
	}
	return short
}

// TestMain builds the program once.
func TestMain(m *testing.M) { os.Exit(main(m)) }

var program = os.Getenv("OXBOW_PROGRAM") // path of the program

func main(m *testing.M) int {
	if program == "" {
		dir, err := os.MkdirTemp("", "oxbow-answers-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "oxbow")
		cmd := exec.Command("go", "build", "-o", program, "./cmd/oxbow")
		cmd.Dir = filepath.Join("..", "..", "..") // the module of the program
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// newHome returns a home that contains the entry which the tests change.
func newHome(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if out, err := command(home, "remember", "shared", "start").CombinedOutput(); err != nil {
		t.Fatalf("oxbow remember: %v\n%s", err, out)
	}
	return home
}

// command returns a command that uses the home.
func command(home string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "OXBOW_HOME="+home)
	return cmd
}

// answer contains what the program answered to a call that wrote a text.
type answer struct {
	wrote, said string // the text that the call wrote, and the text in the answer
	version     uint64
	etag        string // the ETag in the answer ("" if there is none)
}

// judge compares the answers with the log of the home.
func judge(t *testing.T, home string, answers []answer) {
	t.Helper()
	m, err := oxbow.Open(filepath.Join(home, "memory.oxbow"), nil)
	if err != nil {
		t.Fatal(err)
	}
	logged := map[uint64]string{}
	for c, err := range m.Log(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Versions {
			logged[c.Seq] = v.Entry.Content
		}
	}
	wrong := 0
	for _, a := range answers {
		tag := fmt.Sprintf(`"%x-%d"`, sha256.Sum256([]byte(a.wrote)), a.version)
		if a.said != a.wrote || logged[a.version] != a.wrote || (a.etag != "" && a.etag != tag) {
			wrong++
			if wrong <= 3 {
				t.Errorf(
					"a call wrote %q and was told %q, change %d, tag %s; the log has %q in that change",
					a.wrote,
					a.said,
					a.version,
					a.etag,
					logged[a.version],
				)
			}
		}
	}
	t.Logf("%d answers, %d of them with another call's result; %d changes in the log", len(answers), wrong, len(logged))
	if wrong > 0 || len(logged) != len(answers)+1 {
		t.Errorf(
			"%d answers of %d are about another call, and the log has %d changes",
			wrong,
			len(answers),
			len(logged),
		)
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v", r.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

const handshake = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"answers","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func remember(id int, name, text string) string {
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"remember","arguments":{"name":%q,"content":%q}}}`+"\n",
		id,
		name,
		text,
	)
}

var versionIn = regexp.MustCompile(`version (\d+)`)
var snippetIn = regexp.MustCompile("(?s)```snippet\n(.*?)\n```")

// message is an answer of the Model Context Protocol.
type message struct {
	ID     any
	Result struct {
		IsError bool
		Content []struct{ Text string }
	}
	Error *struct{ Message string }
}

// TestProcesses starts eight processes of "oxbow mcp", which all write the same entry at the same time. Each process
// must answer each call with the text that the call wrote. The log must contain each of these writes as the change
// whose number is in the answer.
func TestProcesses(t *testing.T) {
	home := newHome(t)
	const processes = 8
	each := count(50, 10_000/processes)
	var mu sync.Mutex // guards answers
	var answers []answer
	var wg sync.WaitGroup
	for p := range processes {
		wg.Go(func() {
			cmd := command(home, "mcp")
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Error(err)
				return
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			lines := bufio.NewReader(out)
			io.WriteString(in, handshake)
			_, err = lines.ReadString('\n')
			for i := 0; i < each && err == nil; i++ {
				text := fmt.Sprintf("process %d, text %d", p, i)
				io.WriteString(in, remember(i, "shared", text))
				var line string
				line, err = lines.ReadString('\n')
				if err != nil {
					break
				}
				a, ok := told(line, text)
				if !ok {
					t.Errorf("%q was answered %s", text, line)
				}
				mu.Lock()
				answers = append(answers, a)
				mu.Unlock()
			}
			in.Close()
			if werr := cmd.Wait(); err != nil || werr != nil {
				t.Errorf("process %d: %v, %v", p, err, werr)
			}
		})
	}
	wg.Wait()
	judge(t, home, answers)
}

// told parses the answer to a call that wrote a text. It returns false if the line is not such an answer.
func told(line, text string) (a answer, ok bool) {
	var m message
	if json.Unmarshal([]byte(line), &m) != nil || m.Error != nil || m.Result.IsError || len(m.Result.Content) == 0 {
		return a, false
	}
	said := m.Result.Content[0].Text
	version, snippet := versionIn.FindStringSubmatch(said), snippetIn.FindStringSubmatch(said)
	if version == nil || snippet == nil {
		return a, false
	}
	a.wrote, a.said = text, strings.TrimSpace(snippet[1])
	a.version, _ = strconv.ParseUint(version[1], 10, 64)
	return a, true
}

// TestServers tests the answers of two servers with the same home to eight clients that write the same entry.
func TestServers(t *testing.T) {
	home := newHome(t)
	secret := "a-token-of-enough-length-for-it"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const servers, clients = 2, 8
	each := count(50, 10_000/clients)
	var urls []string
	for range servers {
		cmd := command(home, "serve", "--http", "127.0.0.1:0", "--token-file", file)
		said, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Wait() })
		t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
		url := ""
		for lines := bufio.NewScanner(said); url == "" && lines.Scan(); {
			if _, rest, ok := strings.Cut(lines.Text(), "API "); ok {
				url, _, _ = strings.Cut(strings.TrimSpace(rest), ",")
			}
		}
		go io.Copy(io.Discard, said)
		urls = append(urls, url)
	}
	var mu sync.Mutex // guards answers
	var answers []answer
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range each {
				text := fmt.Sprintf("client %d, text %d", c, i)
				a, err := put(urls[c%servers]+"/entries/shared", secret, text)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				answers = append(answers, a)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	judge(t, home, answers)
}

func put(url, secret, text string) (a answer, err error) {
	body, _ := json.Marshal(map[string]string{"content": text})
	req, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	var e struct {
		Snippet string
		Version uint64
	}
	b, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, b)
	}
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	return answer{text, e.Snippet, e.Version, res.Header.Get("ETag")}, err
}

// TestPipe writes many notes through a pipe to "oxbow mcp" while loops keep the processors busy. All notes must be
// stored, and all calls must be answered.
func TestPipe(t *testing.T) {
	home := newHome(t)
	notes := count(1000, 3000)
	var stop atomic.Bool
	defer stop.Store(true)
	for range 4 * runtime.NumCPU() {
		go func() {
			for !stop.Load() { //nolint:revive // busy on purpose
			}
		}()
	}
	var input bytes.Buffer
	input.WriteString(handshake)
	for i := range notes {
		input.WriteString(remember(i, fmt.Sprint("note ", i), fmt.Sprint("text ", i)))
	}
	cmd := command(home, "mcp")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = &input, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	stop.Store(true)
	var answers []answer
	for line := range strings.Lines(out.String()) {
		var m message
		if json.Unmarshal([]byte(line), &m) != nil {
			t.Errorf("the server wrote %q", line)
		}
		if id, ok := m.ID.(float64); ok {
			a, ok := told(line, fmt.Sprint("text ", id))
			if !ok {
				t.Errorf("note %v was answered %s", id, line)
			}
			answers = append(answers, a)
		}
	}
	if len(answers) != notes {
		t.Errorf("%d of %d calls were answered", len(answers), notes)
	}
	t.Logf("%d notes in %v", notes, time.Since(began).Round(time.Millisecond))
	judge(t, home, answers)
}
