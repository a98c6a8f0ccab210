// This file implements loading and unloading memory profiles. A profile is loaded in a session or, for clients without
// sessions, named by a handle in each call.

package verb

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// Profiles loads memory profiles for a workspace. A loaded profile can only restrict the memory that the workspace
// shows. Profiles caches the restricted memories that were used last. It is safe for concurrent use.
type Profiles struct {
	Set *profile.Set

	// IsProfileVisible reports whether callers may name a profile. A profile for which it returns false is reported as
	// unknown. If IsProfileVisible is nil, callers may name every profile.
	IsProfileVisible func(name string) bool
	// IsDocumentVisible reports whether a document of a profile may be shown. If it is nil, every document may be
	// shown.
	IsDocumentVisible func(profile.Document) bool
	// RestrictScope is called for a scope if the workspace's memory is itself restricted to some labels. It returns the
	// scope without all other labels. If RestrictScope is nil, scopes are not changed.
	RestrictScope func(scope.Scope) scope.Scope

	mu             sync.Mutex // guards the fields below
	cachedViews    []*profileScopedMemory
	cachedViewUses uint64 // how often one of the cachedViews has been used so far
}

// A session that has loaded a profile sees only the profile's part of the memory. maxCachedViews is the number of such
// restricted memories that are kept open for later calls.
const maxCachedViews = 8

// profileScopedMemory is a memory that is restricted to the scope of a profile.
type profileScopedMemory struct {
	base             *oxbow.Memory
	scopeKey         string
	memory           *oxbow.Memory
	runningCallCount int    // number of running calls that use the field memory, the restricted memory
	lastUseNumber    uint64 // value of Profiles.cachedViewUses when the view was used last
}

// loadedProfile is a memory profile that a session has loaded. A client without a session can pass a handle instead,
// from which oxbow makes the loadedProfile. The handle contains the profile's name, the time of loading and a digest.
type loadedProfile struct {
	handle      string
	name        string
	scope       scope.Scope
	scopeDigest string
	shownTokens int // estimated number of tokens that the agent has received because it loaded the profile
}

// maxLoadedProfiles is the maximum number of profiles that a session may have loaded at the same time.
const maxLoadedProfiles = 8

// unloadMemoryProfileOut is the result of unload_memory_profile.
type unloadMemoryProfileOut struct {
	Handle  string `json:"handle"`
	Profile string `json:"profile"`
	// approximate number of tokens that the client may remove from the conversation
	RemovableTokens int `json:"tokens,omitempty"`
	// handles of the profiles that are still loaded (calls are restricted to the last one)
	LoadedHandles []string `json:"loaded,omitempty"`
	Message       string   `json:"message"`
}

func (p *Profiles) resolveProfile(name string) (*profile.Resolved, error) {
	if err := profile.CheckName(name); err != nil {
		return nil, err
	}
	if p.IsProfileVisible != nil && !p.IsProfileVisible(name) {
		return nil, &profile.UnknownError{Name: name, Any: true}
	}
	r, err := p.Set.Resolve(name)
	return &r, err
}

// makeLoadedProfile returns a loadedProfile for the profile r. The handle of the result consists of the name of the
// profile, the time in the argument now, and a digest of the scope. If p.RestrictScope is set, it adapts the scope to
// the workspace.
func (p *Profiles) makeLoadedProfile(r *profile.Resolved, now time.Time) loadedProfile {
	s := r.Scope()
	if p.RestrictScope != nil {
		s = p.RestrictScope(s)
	}
	d := scopeDigest(s)
	return loadedProfile{handle: makeHandle(r.Name, now, d), name: r.Name, scope: s, scopeDigest: d}
}

// scopeDigest returns the first 8 hexadecimal digits of the scope's hash.
func scopeDigest(s scope.Scope) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // This cannot happen, because a scope contains only strings and times.
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

// makeHandle returns a handle in the form NAME@TIME-DIGEST: the profile's name, the loading time in seconds since 1970
// in base 36, and the digest of the profile's scope. The server need not store handles, because a handle contains
// everything that is needed to find the profile again. A handle is not secret and gives no rights, because each use of
// the handle checks the caller's rights anew.
func makeHandle(name string, at time.Time, digest string) string {
	return name + "@" + strconv.FormatInt(at.Unix(), 36) + "-" + digest
}

func parseHandle(h string) (name string, at time.Time, digest string, err error) {
	name, rest, hasTime := strings.Cut(h, "@")
	when, digest, hasDigest := strings.Cut(rest, "-")
	sec, timeErr := strconv.ParseInt(when, 36, 64)
	_, digestErr := hex.DecodeString(digest)
	hasAllParts := hasTime && hasDigest && len(digest) == 8
	err = errors.Join(timeErr, digestErr, profile.CheckName(name))
	if err != nil || !hasAllParts {
		return "", at, "", InvalidValue(
			"handle",
			h,
			"is not what load_memory_profile gives, such as vtt-developer@t8k3sq-1f3c9a0b",
		)
	}
	return name, time.Unix(sec, 0), digest, nil
}

// maxHandleAge is the time for which a handle is valid if the client has no session. A handle is the text by which a
// call names the profile that it loaded earlier. The time is limited because a handle that remains in an old
// conversation should not restrict a new conversation.
const maxHandleAge = 24 * time.Hour

// resolveHandle returns the profile to which a handle belongs, for a client without a session. It returns an error if
// the handle is older than maxHandleAge, or if the profile has changed since.
func (p *Profiles) resolveHandle(h string, now time.Time) (loadedProfile, error) {
	name, at, digest, err := parseHandle(h)
	if err != nil {
		return loadedProfile{}, err
	}
	if age := now.Sub(at); age > maxHandleAge || age < -time.Hour {
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
	r, err := p.resolveProfile(name)
	if err != nil {
		return loadedProfile{}, err
	}
	l := p.makeLoadedProfile(r, at)
	if l.scopeDigest != digest {
		return loadedProfile{}, InvalidValue(
			"handle",
			h,
			fmt.Sprintf("is of profile %q before it was edited; load it again", name),
		)
	}
	return l, nil
}

// openRestrictedView returns a view of baseMemory that contains only what is in the scope of the profile l. The caller
// must call release when it no longer needs the view, and must not close the view itself.
func (p *Profiles) openRestrictedView(baseMemory *oxbow.Memory, l loadedProfile) (m *oxbow.Memory, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cachedViewUses++
	key := l.name + "@" + l.scopeDigest
	i := slices.IndexFunc(
		p.cachedViews,
		func(n *profileScopedMemory) bool { return n.base == baseMemory && n.scopeKey == key },
	)
	if i < 0 {
		i = len(p.cachedViews)
		p.cachedViews = append(
			p.cachedViews,
			&profileScopedMemory{base: baseMemory, scopeKey: key, memory: scope.Within(baseMemory, l.scope)},
		)
	}
	n := p.cachedViews[i]
	n.runningCallCount++
	n.lastUseNumber = p.cachedViewUses
	return n.memory, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		n.runningCallCount--
		p.closeUnusedViews()
	}
}

// closeUnusedViews closes restricted memories that were kept open, until at most maxCachedViews are left. It begins
// with the memories that were not used for the longest time. It never closes a memory that a call is using.
func (p *Profiles) closeUnusedViews() {
	for len(p.cachedViews) > maxCachedViews {
		oldest := -1
		for i, n := range p.cachedViews {
			if n.runningCallCount > 0 {
				continue
			}
			if oldest < 0 || n.lastUseNumber < p.cachedViews[oldest].lastUseNumber {
				oldest = i
			}
		}
		if oldest < 0 {
			return
		}
		// Ignore the error: a memory that only shows a part of another memory has nothing to close that could fail.
		_ = p.cachedViews[oldest].memory.Close()
		p.cachedViews = slices.Delete(p.cachedViews, oldest, oldest+1)
	}
}

// LoadedProfiles is the stack of the profiles that a session has loaded. Calls are restricted to the last profile.
// When this profile is unloaded, the profile before it counts again. The zero value is empty. It is safe for
// concurrent use.
type LoadedProfiles struct {
	mu                     sync.Mutex // guards the fields below
	loadedStack            []loadedProfile
	unloadedProfileHandles []string // handles of the last 32 profiles that were unloaded or reloaded
}

// loadProfile puts the profile l on top of the stack, and returns the loaded profile. If the session has already loaded
// a profile with the same name, this profile moves to the top, and notes tells the caller that the profile was loaded
// before. There are two cases:
//   - If the profile's file is unchanged, the profile keeps its handle.
//   - If the profile's file has changed, l replaces the old profile, and the old handle becomes invalid.
//
// loadProfile returns an error if l is a new profile and the session has already loaded maxLoadedProfiles other
// profiles.
func (s *LoadedProfiles) loadProfile(l loadedProfile) (currentProfile loadedProfile, notes []Note, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.loadedStack, func(o loadedProfile) bool { return o.name == l.name })
	switch {
	case i < 0 && len(s.loadedStack) >= maxLoadedProfiles:
		return l, nil, InvalidValue(
			"name",
			l.name,
			fmt.Sprintf(
				"cannot be loaded beside %d others; unload one: %s",
				maxLoadedProfiles,
				strings.Join(s.loadedProfileHandles(), ", "),
			),
		)
	case i < 0:
		s.loadedStack = append(s.loadedStack, l)
		return l, nil, nil
	}
	old := s.loadedStack[i]
	s.loadedStack = slices.Delete(s.loadedStack, i, i+1)
	if old.scopeDigest != l.scopeDigest {
		s.recordInvalidHandle(old.handle)
		s.loadedStack = append(s.loadedStack, l)
		return l, []Note{
			Notef(
				"it was loaded already, as %s, and its file has been edited since: that handle no longer counts",
				old.handle,
			),
		}, nil
	}
	s.loadedStack = append(s.loadedStack, old)
	return old, []Note{
		PlainNote("it was loaded already: the handle is the same, and unloading it once is enough"),
	}, nil
}

// addShownTokens adds the tokens that an answer contained to the total for the loaded profile with this handle.
func (s *LoadedProfiles) addShownTokens(profileHandle string, tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.loadedStack {
		if s.loadedStack[i].handle == profileHandle {
			s.loadedStack[i].shownTokens += tokens
		}
	}
}

// removeProfile removes the profile with this handle, as if it had never been loaded. Later calls with this handle are
// told that it is unknown, not that it was unloaded.
func (s *LoadedProfiles) removeProfile(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loadedStack = slices.DeleteFunc(s.loadedStack, func(l loadedProfile) bool { return l.handle == handle })
}

// recordInvalidHandle records that the handle of an unloaded profile must not be used any more. The caller must hold
// s.mu.
func (s *LoadedProfiles) recordInvalidHandle(profileHandle string) {
	s.unloadedProfileHandles = append(s.unloadedProfileHandles, profileHandle)
	if n := len(s.unloadedProfileHandles) - 32; n > 0 {
		s.unloadedProfileHandles = slices.Delete(s.unloadedProfileHandles, 0, n)
	}
}

// loadedProfileHandles returns the handles of the loaded profiles, in the order in which they were loaded. The last
// profile in this list is the one that restricts the memory's tools. The caller must hold s.mu.
func (s *LoadedProfiles) loadedProfileHandles() []string {
	var hs []string
	for _, l := range s.loadedStack {
		hs = append(hs, l.handle)
	}
	return hs
}

// staleHandleError returns an error that says why a handle is not valid. The caller must hold s.mu.
func (s *LoadedProfiles) staleHandleError(handle string) error {
	if _, _, _, err := parseHandle(handle); err != nil {
		return err
	}
	why := "is not of this session; load the profile again"
	if slices.Contains(s.unloadedProfileHandles, handle) {
		why = "was unloaded already"
	}
	if hs := s.loadedProfileHandles(); len(hs) > 0 {
		why += "; loaded now: " + strings.Join(hs, ", ")
	} else {
		why += "; nothing is loaded now"
	}
	return InvalidValue("handle", handle, why)
}

// findProfile returns the loaded profile with the given handle. If the handle is empty, it returns the profile that was
// loaded last, because calls are restricted to this profile. ok is false if the handle is empty and no profile is
// loaded. If the handle is not empty and no loaded profile has it, findProfile returns an error.
func (s *LoadedProfiles) findProfile(handle string) (l loadedProfile, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if handle == "" {
		if len(s.loadedStack) == 0 {
			return loadedProfile{}, false, nil
		}
		return s.loadedStack[len(s.loadedStack)-1], true, nil
	}
	i := slices.IndexFunc(s.loadedStack, func(l loadedProfile) bool { return l.handle == handle })
	if i < 0 {
		return loadedProfile{}, false, s.staleHandleError(handle)
	}
	return s.loadedStack[i], true, nil
}

// unloadProfile removes the profile with this handle or name from the stack, and records that its handle is no longer
// valid. If the argument handle is empty, unloadProfile removes the profile that was loaded last. Calls are restricted
// to this profile while it is loaded. unloadProfile returns an error if the profile is not loaded.
func (s *LoadedProfiles) unloadProfile(handle string) (unloadMemoryProfileOut, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.loadedStack) - 1
	if handle != "" {
		i = slices.IndexFunc(
			s.loadedStack,
			func(l loadedProfile) bool { return l.handle == handle || l.name == handle },
		)
	}
	switch {
	case i < 0 && handle == "":
		return unloadMemoryProfileOut{}, InvalidValue("handle", "", "is empty, and no memory profile is loaded")
	case i < 0:
		return unloadMemoryProfileOut{}, s.staleHandleError(handle)
	}
	l := s.loadedStack[i]
	s.loadedStack = slices.Delete(s.loadedStack, i, i+1)
	s.recordInvalidHandle(l.handle)
	out := unloadMemoryProfileOut{
		Handle:          l.handle,
		Profile:         l.name,
		RemovableTokens: l.shownTokens,
		LoadedHandles:   s.loadedProfileHandles(),
	}
	out.Message = fmt.Sprintf(
		"Unloaded memory profile %q. The results of load_memory_profile with handle %s, about %d tokens, may be "+
			"dropped from the conversation, and so may what was recalled for it.",
		l.name,
		l.handle,
		l.shownTokens,
	)
	if n := len(s.loadedStack); n > 0 {
		out.Message += fmt.Sprintf(" In force now: %q, handle %s.", s.loadedStack[n-1].name, s.loadedStack[n-1].handle)
	} else {
		out.Message += " The memory's tools see all that they may again."
	}
	return out, nil
}
