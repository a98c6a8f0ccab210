//go:build !js

// This file uses the example page as a person would: in one tab and in two, with reloads, and in a browser that is
// killed.

package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/oxbow-memory/oxbow/test/browser/chromiumtest"
)

// startPage starts the server of the example page and returns the address of the page.
func startPage(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "page")
	build := exec.CommandContext(
		t.Context(),
		"go",
		"build",
		"-o",
		program,
		"github.com/oxbow-memory/oxbow/test/browser/page",
	)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(program, "-addr", "127.0.0.1:0")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "open ")
	if err != nil || !ok {
		t.Fatalf("the page's server said %q, %v, %s; want its address", line, err, &said)
	}
	return address
}

// until waits until the element with the ID "status" contains exactly the given text. If this takes longer than
// MaxWait, the test fails.
func until(t *testing.T, tab context.Context, text string) {
	t.Helper()
	chromiumtest.RunActions(
		t,
		tab,
		fmt.Sprintf("waiting for %q", text),
		func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := chromedp.Poll[bool](fmt.Sprintf("document.querySelector('#status').textContent === %q", text),
				chromedp.WithPollingTimeout(chromiumtest.MaxWait), chromedp.WithPollingInterval(pollEvery))(
				ctx,
				target,
			)
			if err != nil {
				return chromedp.Void{}, fmt.Errorf(
					"%w; it says %q",
					err,
					chromiumtest.EvalJavaScript[string](t, tab, "document.querySelector('#status').textContent"),
				)
			}
			return chromedp.Void{}, nil
		},
	)
}

// visit opens the page and waits until its memory is open.
func visit(t *testing.T, tab context.Context, address string) {
	t.Helper()
	chromiumtest.RunActions(t, tab, "opening the page", chromedp.Navigate(address))
	until(t, tab, "Open.")
}

// shown returns the names of the entries that the page shows, from top to bottom.
func shown(t *testing.T, tab context.Context) []string {
	t.Helper()
	return chromiumtest.EvalJavaScript[[]string](
		t,
		tab,
		"[...document.querySelectorAll('#entries b')].map(b => b.textContent)",
	)
}

func wantShown(t *testing.T, tab context.Context, want ...string) {
	t.Helper()
	if got := shown(t, tab); !slices.Equal(got, want) {
		t.Errorf("the page shows %q, want %q", got, want)
	}
}

// names returns the names of all entries in the memory of the page.
func names(t *testing.T, tab context.Context) []string {
	t.Helper()
	return chromiumtest.EvalJavaScript[[]string](
		t,
		tab,
		"memory.then(m => m.list()).then(all => all.map(e => e.name))",
	)
}

// remember types a name and a content into the page, as a person who adds an entry would.
func remember(t *testing.T, tab context.Context, name, content string) {
	t.Helper()
	chromiumtest.RunActions(t, tab, "remembering "+name,
		chromedp.SendKeys("#remember input[name=name]", name),
		chromedp.SendKeys("#remember input[name=content]", content),
		chromedp.Click("#remember button"))
	until(t, tab, "Remembered "+name+".")
}

// ask types a question into the page's search field, clicks the button and waits for the answer.
func ask(t *testing.T, tab context.Context, question string) {
	t.Helper()
	chromiumtest.RunActions(t, tab, "asking "+question,
		chromedp.SetValue("#recall input", question),
		chromedp.Click("#recall button"))
	until(t, tab, "For “"+question+"”, best first:")
}

func click(t *testing.T, tab context.Context, button, says string) {
	t.Helper()
	chromiumtest.RunActions(t, tab, "clicking "+button, chromedp.Click(button))
	until(t, tab, says)
}

func TestPage(t *testing.T) {
	address := startPage(t)
	one := chromiumtest.StartBrowser(t, chromiumtest.NewProfileDir(t))
	visit(t, one, address)
	remember(t, one, "deploy", "We ship on Tuesdays, never on Fridays.")
	remember(t, one, "coffee", "Black, no sugar.")
	remember(t, one, "script", "<img src=x onerror=alert(1)>")
	wantShown(t, one, "deploy", "coffee", "script")

	// After a reload, the page runs a new program. It has nothing but the stored data.
	chromiumtest.RunActions(t, one, "reloading the page", chromedp.Reload())
	until(t, one, "Open.")
	wantShown(t, one, "deploy", "coffee", "script")
	ask(t, one, "when do we ship")
	wantShown(t, one, "deploy")
	if got := chromiumtest.EvalJavaScript[int](t, one, "document.querySelectorAll('#entries img').length"); got != 0 {
		t.Error("the content of an entry became markup")
	}

	// Two tabs write at the same time. Each of them has several changes in progress.
	two := chromiumtest.OpenTab(t, one)
	visit(t, two, address)
	const each = 12
	var wg sync.WaitGroup
	for i, tab := range []context.Context{one, two} {
		wg.Go(func() {
			v, err := chromedp.Run(
				tab,
				chromedp.Evaluate[int](fmt.Sprintf(`memory.then(m => Promise.all([...Array(%d).keys()].map(
				i => m.remember("tab %d, " + i, "one of many")))).then(all => all.length)`, each, i), chromedp.EvalAwaitPromise),
			)
			if v != each || err != nil {
				t.Errorf("tab %d remembered %d, %v, want %d", i, v, err, each)
			}
		})
	}
	wg.Wait()
	all := names(t, one)
	if len(all) != 3+2*each || !slices.Equal(all, names(t, two)) {
		t.Errorf("one tab has %q, the other %q, want all %d, and the same", all, names(t, two), 3+2*each)
	}
	ask(t, two, "many")
	if n := len(shown(t, two)); n == 0 {
		t.Error("nothing was recalled of what two tabs remembered")
	}

	// The first tab deletes an entry, and the second tab undoes the deletion. Each tab must see the change of the other
	// tab.
	ask(t, one, "coffee")
	click(t, one, "#entries li button", "Forgot coffee.")
	if slices.Contains(names(t, two), "coffee") {
		t.Error("the other tab still has what was forgotten")
	}
	click(t, two, "#undo", fmt.Sprintf("Undid change %d.", 3+2*each+1))
	if !slices.Contains(names(t, one), "coffee") {
		t.Error("undo did not bring back what was forgotten")
	}
	click(t, one, "#check", fmt.Sprintf("%d entries in %d changes: no problems.", 3+2*each, 3+2*each+2))
}

// TestPageOfAKilledBrowser kills a browser while its page writes. A new browser with the same data must show all
// entries that the page had acknowledged. It must be able to write, because the lock of the killed browser no longer
// exists. A check must find no problems.
func TestPageOfAKilledBrowser(t *testing.T) {
	address, kept := startPage(t), chromiumtest.NewProfileDir(t)
	tab := chromiumtest.StartBrowser(t, kept)
	visit(t, tab, address)
	var acknowledged []string
	for i := range 20 {
		acknowledged = append(acknowledged, chromiumtest.EvalJavaScript[string](t, tab,
			fmt.Sprintf(`memory.then(m => m.remember("entry %d", "x")).then(e => e.name)`, i)))
	}
	chromiumtest.EvalJavaScript[int](
		t,
		tab,
		`memory.then(m => { for (let i = 0; i < 20; i++) m.remember("under way " + i, "x"); return 0 })`,
	)
	chromiumtest.KillBrowser(t, tab)
	again := chromiumtest.StartBrowser(t, kept)
	visit(t, again, address)
	all := names(t, again)
	for _, n := range acknowledged {
		if !slices.Contains(all, n) {
			t.Errorf("%s was acknowledged, and is lost; there are %q", n, all)
		}
	}
	remember(t, again, "after", "The lock is free.")
	if got := chromiumtest.EvalJavaScript[[]string](t, again, "memory.then(m => m.check()).then(c => c.problems)"); len(
		got,
	) > 0 {
		t.Errorf("check found %q", got)
	}
}

// TestPageWithoutRoom tests a browser that has no space left. A change must then fail without damage: the entries can
// still be read, and later changes succeed when there is space again.
func TestPageWithoutRoom(t *testing.T) {
	address := startPage(t)
	page := chromiumtest.StartBrowser(t, chromiumtest.NewProfileDir(t))
	quota := func(bytes *float64) {
		t.Helper()
		chromiumtest.RunActions(
			t,
			page,
			"setting the quota",
			func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
				_, err := cdp.Call(ctx, target, storage.OverrideQuotaForOrigin,
					storage.OverrideQuotaForOriginParams{Origin: strings.TrimSuffix(address, "/"), QuotaSize: bytes})
				return chromedp.Void{}, err
			},
		)
	}
	little := 4e6
	quota(&little)
	visit(t, page, address)
	remember(t, page, "deploy", "We ship on Tuesdays.")
	want := []string{"deploy"}
	for i := 0; ; i++ {
		name := fmt.Sprint("big ", i)
		wrong := chromiumtest.EvalJavaScript[string](
			t,
			page,
			fmt.Sprintf(
				`memory.then(m => m.remember(%q, "x".repeat(900000))).then(() => "", err => err.message)`,
				name,
			),
		)
		if wrong != "" {
			if !strings.Contains(wrong, "no room for the change") || !strings.Contains(wrong, "nothing was written") {
				t.Errorf("without room, remember says %q, want that there is none and that nothing was written", wrong)
			}
			break
		}
		want = append(want, name)
		if i == 20 {
			t.Fatalf("%d entries of 900 kB fit into a quota of %.0f bytes", i, little)
		}
	}
	ask(t, page, "when do we ship")
	wantShown(t, page, "deploy")
	quota(nil)
	remember(t, page, "after", "There is room again.")
	want = append(want, "after")
	if got := names(t, page); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	click(t, page, "#check", fmt.Sprintf("%d entries in %d changes: no problems.", len(want), len(want)))
}
