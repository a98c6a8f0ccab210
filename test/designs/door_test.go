// This file declares the type door, an interface through which the tests use a memory. It also implements the doors
// that use the command line and the Go library.

package designs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/layouts"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// A door is an interface through which a user accesses the memory of a home. Each method returns the text that the
// user or the model gets.
type door interface {
	// remember writes an entry. In the layout crabtalk, the description is stored as an alias of the entry. In the
	// layout entryfiles, the description is the line by which a search finds the entry.
	remember(name, description, content string) (string, error)
	recall(query string) (string, error)
	forget(name string) (string, error)
	context() (string, error)               // returns the text at the start of a new session
	prompt(message string) (string, error)  // returns the text that is added to a message of the user
	compact(summary string) (string, error) // compacts a conversation
	end(summary string) (string, error)     // ends a session
	tool(name, args string) (string, error) // calls a tool (args is a JSON object)
	tools() ([]string, error)               // returns the names of the tools
	edit() (string, error)                  // edits hello.go like an agent that gives a reason, and returns the output
	close() error                           // ends the session without a summary (the next call begins a new one)
}

// errNoWay is returned if a door (an interface to the memory, such as the command line) does not support an action. A
// row (a test case) that needs the action must skip such a door.
var errNoWay = errors.New("this door has no way to do that")

// closed is a door (an interface to the memory) that supports no actions: every method except close returns errNoWay.
// Other doors embed it, so that they implement only the actions that they support.
type closed struct{}

func (closed) remember(_, _, _ string) (string, error) { return "", errNoWay }
func (closed) recall(string) (string, error)           { return "", errNoWay }
func (closed) forget(string) (string, error)           { return "", errNoWay }
func (closed) context() (string, error)                { return "", errNoWay }
func (closed) prompt(string) (string, error)           { return "", errNoWay }
func (closed) compact(string) (string, error)          { return "", errNoWay }
func (closed) end(string) (string, error)              { return "", errNoWay }
func (closed) tool(_, _ string) (string, error)        { return "", errNoWay }
func (closed) tools() ([]string, error)                { return nil, errNoWay }
func (closed) edit() (string, error)                   { return "", errNoWay }
func (closed) close() error                            { return nil }

func newDoor(w *world, name string) door {
	switch name {
	case "cli":
		return cliDoor{w: w}
	case "go":
		return &goDoor{w: w}
	case "stdio", "http":
		return &mcpDoor{w: w, isHTTP: name == "http"}
	}
	return &hookDoor{w: w, client: name}
}

// cliDoor is the door (the interface to the memory) that runs commands of oxbow in the world w. It embeds closed, whose
// methods return errNoWay, for all actions without a command.
type cliDoor struct {
	closed
	w *world
}

func (d cliDoor) remember(name, description, content string) (string, error) {
	args := []string{"remember", name, "--content"}
	switch {
	case description == "":
		return d.w.oxbow(append(args, content)...)
	case d.w.layout == "crabtalk":
		return d.w.oxbow(append(args, content, "--alias", description)...)
	}
	return d.w.oxbow(append(args, description+"\n\n"+content)...)
}

func (d cliDoor) recall(query string) (string, error) { return d.w.oxbow("recall", query, "--json") }
func (d cliDoor) forget(name string) (string, error)  { return d.w.oxbow("forget", "--yes", name) }
func (d cliDoor) context() (string, error)            { return d.w.oxbow("context") }
func (d cliDoor) prompt(message string) (string, error) {
	return d.w.oxbow("context", "--message", message)
}

// goDoor is the door (the interface to the memory) of a Go program. It opens the home with the Go package of the layout
// that the tested row belongs to.
type goDoor struct {
	closed
	w    *world
	home layout.Home
	seen *verb.SeenEntries
	talk layout.Session
}

func (d *goDoor) open() (layout.Home, error) {
	if d.home != nil {
		return d.home, nil
	}
	dialect, err := layout.Find(layouts.All(), d.w.layout)
	if err != nil {
		return nil, err
	}
	fsys, err := vfs.Dir(d.w.home)
	if err != nil {
		return nil, err
	}
	work, err := vfs.Dir("/")
	if err != nil {
		return nil, err
	}
	o := layout.Options{FS: fsys, Path: d.w.home, Zone: time.UTC, Work: work,
		WorkDir: strings.TrimPrefix(d.w.tree, "/"),
		Memory:  oxbow.Options{Clock: d.w.clock}}
	if d.w.layout == "duragent" {
		o.Agent = "rei"
	}
	d.home, err = dialect.Open(d.w.detached(), o)
	if err == nil {
		d.seen = verb.NewSeenEntries(d.home.Written())
	}
	return d.home, err
}

func (d *goDoor) session() (layout.Session, error) {
	h, err := d.open()
	if err != nil {
		return nil, err
	}
	if d.talk == nil {
		d.talk, err = h.Session(d.w.detached(), layout.Request{LoadSkill: d.readSkill})
	}
	return d.talk, err
}

// readSkill returns the text of a skill of the home. It reads the skill's file directly, because a Go program that uses
// the library would do the same.
func (d *goDoor) readSkill(name string) (string, error) {
	data, err := os.ReadFile(d.w.path("skills/" + name + "/SKILL.md"))
	return string(data), err
}

func (d *goDoor) remember(name, description, content string) (string, error) {
	h, err := d.open()
	if err != nil {
		return "", err
	}
	e := d.w.named(name, content)
	switch {
	case description == "":
	case d.w.layout == "crabtalk":
		e.Aliases = []string{description}
	default:
		e.Content = description + "\n\n" + content
	}
	e, err = h.Memory().Remember(d.w.detached(), e)
	return e.Name, err
}

func (d *goDoor) recall(query string) (string, error) {
	h, err := d.open()
	if err != nil {
		return "", err
	}
	hits, err := h.Memory().Recall(d.w.detached(), oxbow.Query{Text: query})
	var b strings.Builder
	for _, hit := range hits {
		fmt.Fprintf(&b, "%s\n%s\n", hit.Entry.Name, hit.Entry.Content)
	}
	return b.String(), err
}

func (d *goDoor) forget(name string) (string, error) {
	h, err := d.open()
	if err != nil {
		return "", err
	}
	return "", h.Memory().Forget(d.w.detached(), name)
}

func (d *goDoor) context() (string, error) {
	if err := d.close(); err != nil {
		return "", err
	}
	return d.talking(func(ctx context.Context, s layout.Session) (prompt.Context, error) { return s.Start(ctx) })
}

func (d *goDoor) prompt(message string) (string, error) {
	return d.talking(func(ctx context.Context, s layout.Session) (prompt.Context, error) {
		return s.BeforeTurn(ctx, message)
	})
}

func (d *goDoor) compact(summary string) (string, error) {
	return d.talking(func(ctx context.Context, s layout.Session) (prompt.Context, error) {
		_, c, err := s.Compact(ctx, summary)
		return c, err
	})
}

func (d *goDoor) end(summary string) (string, error) {
	return d.talking(func(ctx context.Context, s layout.Session) (prompt.Context, error) {
		return prompt.Context{}, s.End(ctx, summary)
	})
}

func (d *goDoor) talking(say func(context.Context, layout.Session) (prompt.Context, error)) (string, error) {
	s, err := d.session()
	if err != nil {
		return "", err
	}
	c, err := say(d.w.detached(), s)
	return c.Text(), err
}

func (d *goDoor) tool(name, args string) (string, error) {
	h, err := d.open()
	if err != nil {
		return "", err
	}
	all := slices.Concat(h.Tools(), layout.OwnTools())
	i := slices.IndexFunc(all, func(t layout.Tool) bool { return t.Name == name })
	if i < 0 {
		return "", fmt.Errorf("unknown tool %q", name)
	}
	workspace := layout.NewWorkspace(h)
	workspace.Now = d.w.clock
	answer, err := all[i].CallForModel(verb.WithSeenEntries(d.w.detached(), d.seen), workspace, json.RawMessage(args))
	if err != nil {
		return "", err
	}
	return answer.Text(), nil
}

func (d *goDoor) tools() (names []string, err error) {
	h, err := d.open()
	if err != nil {
		return nil, err
	}
	for _, t := range h.Tools() {
		names = append(names, t.Name)
	}
	return names, nil
}

func (d *goDoor) schema(name string) (string, error) {
	h, err := d.open()
	if err != nil {
		return "", err
	}
	for _, t := range h.Tools() {
		if t.Name == name {
			text, err := json.Marshal(t.Input)
			return t.Description + string(text), err
		}
	}
	return "", fmt.Errorf("there is no tool %q", name)
}

func (d *goDoor) close() error {
	d.talk = nil
	if d.home == nil {
		return nil
	}
	h := d.home
	d.home = nil
	return h.Close()
}
