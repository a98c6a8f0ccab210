// This file tests that the fast check of a request agrees with the full check.

package mcpserver

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestPlainRequests tests random lines with valid JSON. If isPlainRequest accepts a line, the SDK must be able to
// decode it as a request with an accepted ID, and the request must not be an initialize request.
func TestPlainRequests(t *testing.T) {
	const usual = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","arguments":{"q":"a {b}"}}}`
	if !isPlainRequest([]byte(usual)) {
		t.Errorf("%s is not recognized", usual)
	}
	names := []string{
		`"jsonrpc"`,
		`"id"`,
		`"method"`,
		`"params"`,
		`"ID"`,
		`"Method"`,
		`"result"`,
		`"error"`,
		`"i\u0064"`,
	}
	values := []string{
		`"2.0"`, `"2.0"`, `"1.0"`, `1`, `7.0`, `7e0`, `1e20`, `1.5`, `-3`, `null`, `"a"`, `true`, `"tools/call"`,
		`"ping"`, `"initialize"`, `"tools\/call"`, `""`, `{}`, `{"a":[1,{"b":"}"}]}`, `[]`, `"\ud800"`, "\"\xff\"",
		strings.Repeat("[", 1200) + strings.Repeat("]", 1200), `{"name":"recall","arguments":{}}`,
	}
	rng := rand.New(rand.NewPCG(7, 0))
	accepted := 0
	for range 100_000 {
		members := []string{`"jsonrpc":"2.0"`, `"id":1`, `"method":"ping"`, `"params":{}`}
		for range rng.IntN(4) {
			member := names[rng.IntN(len(names))] + ":" + values[rng.IntN(len(values))]
			if i := rng.IntN(len(members) + 1); i < len(members) {
				members[i] = member
			} else {
				members = append(members, member)
			}
		}
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		line := []byte("{" + strings.Join(members[:rng.IntN(len(members)+1)], ", ") + "}")
		if !json.Valid(line) || !isPlainRequest(line) {
			continue
		}
		accepted++
		msg, refused := parseMessage(line)
		r, ok := msg.(*jsonrpc.Request)
		if refused != nil || !ok || r.Method == "initialize" || !r.IsCall() {
			t.Fatalf("%s is accepted, but is decoded as %#v with the error %v", line, msg, refused)
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d random lines are accepted", accepted)
	}
}
