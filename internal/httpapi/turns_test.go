// Only a few expensive requests may run at the same time, and each further request waits for its turn. This file tests
// that requests for a list wait for a turn, and that requests for a recall do not wait.

package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
)

func TestTurns(t *testing.T) {
	home := newHome(t)
	synctest.Test(t, func(t *testing.T) {
		s := New(home.views, nil)
		h := s.Handler(auth.RequestGuard{Tokens: auth.Tokens{auth.NewToken("all", "all", auth.Permissions{})}})
		ask := func(method, path, body string) (answer *httptest.ResponseRecorder, ended chan bool) {
			r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+basePath+path,
				strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer all")
			answer, ended = httptest.NewRecorder(), make(chan bool)
			go func() {
				defer close(ended)
				h.ServeHTTP(answer, r)
			}()
			return answer, ended
		}
		for _, c := range []struct {
			method, path, body string
			waits              bool
		}{
			{"GET", "/entries", "", true},
			{"GET", "/log", "", true},
			{"GET", "/labels", "", true},
			{"GET", "/recall?query=crane", "", false},
			{"POST", "/recall", `{"query":"crane"}`, false},
			{"GET", "/inject?prompt=crane", "", false},
		} {
			path, waits := c.method+" "+c.path, c.waits
			var ends []func()
			for range cap(s.heavyCalls) {
				end, err := s.heavyCalls.acquireSlot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ends = append(ends, end)
			}
			answer, ended := ask(c.method, c.path, c.body)
			synctest.Wait()
			select {
			case <-ended:
				if waits {
					t.Errorf("%s waits for no turn", path)
				}
			default:
				if !waits {
					t.Errorf("%s waits for a turn", path)
				}
			}
			for _, end := range ends {
				end()
			}
			<-ended
			if answer.Code != 200 {
				t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
			}
		}
	})
}
