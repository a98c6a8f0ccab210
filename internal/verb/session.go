// Which memory profiles are loaded: by the session, where there
// is one, or by handles alone.

package verb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
)

// Profiles are the memory profiles that can be loaded at a workspace, within what the
// workspace's memory shows: a loaded profile only narrows it. It is safe for
// concurrent use, and keeps the indexes of those used last.
type Profiles struct {
	Set *profile.Set

	// Visible reports whether a profile may be named here; nil lets all be.
	// Others are as if they were not there.
	Visible func(name string) bool
	// Document reports whether a document may be shown; nil shows all.
	Document func(profile.Document) bool
	// Fit, when it is not nil, gives the scope of a profile such labels of its
	// own as the bounds of the workspace's memory allow.
	Fit func(scope.Scope) scope.Scope

	mu    sync.Mutex // guards kept
	kept  []*narrowed
	clock uint64 // counts uses
}

// maxKept is how many indexes of loaded profiles are kept for a workspace.
const maxKept = 8

// narrowed is the memory as one profile shows it.
type narrowed struct {
	base *oxbow.Memory
	key  string
	m    *oxbow.Memory
	busy int    // calls that use it
	last uint64 // use
}

// loadedProfile is a profile that was loaded.
type loadedProfile struct {
	handle string
	name   string
	scope  scope.Scope
	digest string
	tokens int // of the text that was given, about
}

// maxLoaded is how many profiles one session may have loaded.
const maxLoaded = 8

// unloadMemoryProfileOut is what unload_memory_profile gives.
type unloadMemoryProfileOut struct {
	Handle  string   `json:"handle"`
	Profile string   `json:"profile"`
	Tokens  int      `json:"tokens,omitempty"` // that may be dropped, about
	Loaded  []string `json:"loaded,omitempty"` // handles that are still loaded, the one in force last
	Message string   `json:"message"`
}

func (p *Profiles) resolve(name string) (*profile.Resolved, error) {
	if err := profile.CheckName(name); err != nil {
		return nil, err
	}
	if p.Visible != nil && !p.Visible(name) {
		return nil, &profile.UnknownError{Name: name, Any: true}
	}
	r, err := p.Set.Resolve(name)
	return &r, err
}

// load returns a profile as loaded at that time.
func (p *Profiles) load(r *profile.Resolved, now time.Time) loadedProfile {
	s := r.Scope()
	if p.Fit != nil {
		s = p.Fit(s)
	}
	d := digestOf(s)
	return loadedProfile{handle: handleOf(r.Name, now, d), name: r.Name, scope: s, digest: d}
}

// digestOf returns 8 digits that tell a scope from others.
func digestOf(s scope.Scope) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and times can always be written
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// handleOf returns NAME@TIME-DIGEST: the profile's name, when it was loaded, in
// seconds since 1970 to the base 36, and 8 digits of a digest of what it
// included. It is no secret, and gives nothing: the profile is looked up again,
// within the bounds of its sender. So it needs no memory of the server's.
func handleOf(name string, at time.Time, digest string) string {
	return name + "@" + strconv.FormatInt(at.Unix(), 36) + "-" + digest
}

func parseHandle(h string) (name string, at time.Time, digest string, err error) {
	name, rest, ok := strings.Cut(h, "@")
	when, digest, ok2 := strings.Cut(rest, "-")
	sec, nerr := strconv.ParseInt(when, 36, 64)
	_, herr := hex.DecodeString(digest)
	if !ok || !ok2 || nerr != nil || herr != nil || len(digest) != 8 || profile.CheckName(name) != nil {
		return "", at, "", InvalidValue(
			"handle",
			h,
			"is not what load_memory_profile gives, such as vtt-developer@t8k3sq-1f3c9a0b",
		)
	}
	return name, time.Unix(sec, 0), digest, nil
}

// handleLife is how long a handle counts where there are no sessions: one that
// is found in an old text should not narrow a new conversation.
const handleLife = 24 * time.Hour

// byHandle returns what a handle stands for, where there are no sessions.
func (p *Profiles) byHandle(h string, now time.Time) (loadedProfile, error) {
	name, at, digest, err := parseHandle(h)
	if err != nil {
		return loadedProfile{}, err
	}
	if age := now.Sub(at); age > handleLife || age < -time.Hour {
		return loadedProfile{}, InvalidValue(
			"handle",
			h,
			fmt.Sprintf(
				"is of %s, and counts for one day; load %q again",
				at.UTC().Format("2006-01-02 15:04 UTC"),
				name,
			),
		)
	}
	r, err := p.resolve(name)
	if err != nil {
		return loadedProfile{}, err
	}
	l := p.load(r, at)
	if l.digest != digest {
		return loadedProfile{}, InvalidValue(
			"handle",
			h,
			fmt.Sprintf("is of profile %q before it was edited; load it again", name),
		)
	}
	return l, nil
}

// within returns the memory as a profile shows it, and the function that says
// that it is no longer used.
func (p *Profiles) within(base *oxbow.Memory, l loadedProfile) (m *oxbow.Memory, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clock++
	key := l.name + "@" + l.digest
	i := slices.IndexFunc(p.kept, func(n *narrowed) bool { return n.base == base && n.key == key })
	if i < 0 {
		i = len(p.kept)
		p.kept = append(p.kept, &narrowed{base: base, key: key, m: scope.Within(base, l.scope)})
	}
	n := p.kept[i]
	n.busy++
	n.last = p.clock
	return n.m, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		n.busy--
		p.prune()
	}
}

// prune closes those used longest ago, but none that a call uses.
func (p *Profiles) prune() {
	for len(p.kept) > maxKept {
		oldest := -1
		for i, n := range p.kept {
			if n.busy == 0 && (oldest < 0 || n.last < p.kept[oldest].last) {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		_ = p.kept[oldest].m.Close() // a view: closing it cannot fail
		p.kept = slices.Delete(p.kept, oldest, oldest+1)
	}
}

// LoadedProfiles are the profiles that one session has loaded. The last counts:
// loading another puts it in force, and unloading it the one before. The zero value is
// empty. It is safe for concurrent use.
type LoadedProfiles struct {
	mu    sync.Mutex // guards the following
	stack []loadedProfile
	gone  []string // handles unloaded lately
}

// load puts a profile in force. One that is loaded already, in whatever place,
// keeps its handle unless its file was edited; the notes say so.
func (s *LoadedProfiles) load(l loadedProfile) (now loadedProfile, notes []Note, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.stack, func(o loadedProfile) bool { return o.name == l.name })
	switch {
	case i < 0 && len(s.stack) >= maxLoaded:
		return l, nil, InvalidValue(
			"name",
			l.name,
			fmt.Sprintf(
				"cannot be loaded beside %d others; unload one: %s",
				maxLoaded,
				strings.Join(s.handles(), ", "),
			),
		)
	case i < 0:
		s.stack = append(s.stack, l)
		return l, nil, nil
	}
	old := s.stack[i]
	s.stack = slices.Delete(s.stack, i, i+1)
	if old.digest != l.digest {
		s.bury(old.handle)
		s.stack = append(s.stack, l)
		return l, []Note{
			Notef(
				"it was loaded already, as %s, and its file has been edited since: that handle no longer counts",
				old.handle,
			),
		}, nil
	}
	s.stack = append(s.stack, old)
	return old, []Note{Plain("it was loaded already: the handle is the same, and unloading it once is enough")}, nil
}

// shown notes how long the text is that was given for a handle.
func (s *LoadedProfiles) shown(handle string, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.stack {
		if s.stack[i].handle == handle {
			s.stack[i].tokens += tokens
		}
	}
}

// drop takes a handle back without a word.
func (s *LoadedProfiles) drop(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = slices.DeleteFunc(s.stack, func(l loadedProfile) bool { return l.handle == handle })
}

// bury notes that a handle no longer counts. s.mu is held.
func (s *LoadedProfiles) bury(handle string) {
	s.gone = append(s.gone, handle)
	if n := len(s.gone) - 32; n > 0 {
		s.gone = slices.Delete(s.gone, 0, n)
	}
}

// handles returns what is loaded, the one in force last. s.mu is held.
func (s *LoadedProfiles) handles() []string {
	var hs []string
	for _, l := range s.stack {
		hs = append(hs, l.handle)
	}
	return hs
}

// stale says why a handle does not count. s.mu is held.
func (s *LoadedProfiles) stale(handle string) error {
	if _, _, _, err := parseHandle(handle); err != nil {
		return err
	}
	why := "is not of this session; load the profile again"
	if slices.Contains(s.gone, handle) {
		why = "was unloaded already"
	}
	if hs := s.handles(); len(hs) > 0 {
		why += "; loaded now: " + strings.Join(hs, ", ")
	} else {
		why += "; nothing is loaded now"
	}
	return InvalidValue("handle", handle, why)
}

// find returns what a handle stands for or, without one, what is in force; ok is
// false when nothing is.
func (s *LoadedProfiles) find(handle string) (l loadedProfile, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if handle == "" {
		if len(s.stack) == 0 {
			return loadedProfile{}, false, nil
		}
		return s.stack[len(s.stack)-1], true, nil
	}
	i := slices.IndexFunc(s.stack, func(l loadedProfile) bool { return l.handle == handle })
	if i < 0 {
		return loadedProfile{}, false, s.stale(handle)
	}
	return s.stack[i], true, nil
}

// unload releases a profile: by its handle or its name, or the one in force.
func (s *LoadedProfiles) unload(handle string) (unloadMemoryProfileOut, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.stack) - 1
	if handle != "" {
		i = slices.IndexFunc(s.stack, func(l loadedProfile) bool { return l.handle == handle || l.name == handle })
	}
	switch {
	case i < 0 && handle == "":
		return unloadMemoryProfileOut{}, InvalidValue("handle", "", "is empty, and no memory profile is loaded")
	case i < 0:
		return unloadMemoryProfileOut{}, s.stale(handle)
	}
	l := s.stack[i]
	s.stack = slices.Delete(s.stack, i, i+1)
	s.bury(l.handle)
	out := unloadMemoryProfileOut{Handle: l.handle, Profile: l.name, Tokens: l.tokens, Loaded: s.handles()}
	out.Message = fmt.Sprintf(
		"Unloaded memory profile %q. The results of load_memory_profile with handle %s, about %d tokens, may be "+
			"dropped from the conversation, and so may what was recalled for it.",
		l.name,
		l.handle,
		l.tokens,
	)
	if n := len(s.stack); n > 0 {
		out.Message += fmt.Sprintf(" In force now: %q, handle %s.", s.stack[n-1].name, s.stack[n-1].handle)
	} else {
		out.Message += " The memory's tools see all that they may again."
	}
	return out, nil
}
