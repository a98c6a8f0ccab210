// This file implements the pool of tenants' homes, which are opened when needed and closed when
// idle.

// Package tenant serves many tenants' memories in a single process. A [Server] determines the
// tenant of each request and passes the request to the tenant's home, which has access to no other
// memory. A [Pool] limits the number of open homes.
package tenant

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// TenantHome serves the requests of one tenant until it is closed.
type TenantHome interface {
	http.Handler
	Close() error
}

// Options configure a Pool, which opens and closes the homes of tenants. A zero field means the default.
type Options struct {
	MaxOpenHomes int           // maximum number of homes that are open at the same time (0 means 64)
	IdleTimeout  time.Duration // time after which an unused home is closed (0 means 10 minutes)
	Logger       *slog.Logger  // receives errors from closing homes (nil discards them)
}

// Pool keeps the homes of tenants open. It closes a home that was not used for a while. It also closes the home that
// was unused for the longest time if the maximum number of homes is open and another must be opened. A home that
// serves a request is never closed. A Pool is safe for concurrent use.
type Pool struct {
	open func(ctx context.Context, tenant string) (TenantHome, error)
	opts Options

	mu            sync.Mutex // guards the fields below and the fields of all elements of slotsByTenant
	slotsByTenant map[string]*tenantHomeSlot
	isClosed      bool
	openingCount  int // number of times that homes were opened
}

// tenantHomeSlot is a home that is being opened, is open, or is being closed.
type tenantHomeSlot struct {
	tenant             string
	ready              chan struct{} // closed when home or openError is set
	home               TenantHome
	openError          error
	requestsInProgress int       // number of requests in progress
	lastUse            time.Time // time when the last request ended
	// timer that closes the home if no request uses it (nil before the first request has ended)
	idleTimer *time.Timer
	isClosing bool
	closed    chan struct{} // closed when the home was closed
}

// New returns a pool without open homes. The pool calls the function open to open the home of a tenant. If o is nil or
// an option is zero, New uses the default: at most 64 open homes, an idle timeout of 10 minutes, and no log.
func New(open func(ctx context.Context, tenant string) (TenantHome, error), o *Options) *Pool {
	p := &Pool{open: open, slotsByTenant: map[string]*tenantHomeSlot{}}
	if o != nil {
		p.opts = *o
	}
	p.opts.MaxOpenHomes = cmp.Or(p.opts.MaxOpenHomes, 64)
	p.opts.IdleTimeout = cmp.Or(p.opts.IdleTimeout, 10*time.Minute)
	p.opts.Logger = cmp.Or(p.opts.Logger, slog.New(slog.DiscardHandler))
	return p
}

var (
	errPoolClosed    = errors.New("the server is ending")
	errOpenMemory    = errors.New("the memory of the tenant could not be opened")
	errAllHomesInUse = errors.New("all homes that may be open at once are in use")
)

// acquireHome returns the home of a tenant, which it opens if necessary. The home stays open until the caller calls
// release.
func (p *Pool) acquireHome(ctx context.Context, tenant string) (_ TenantHome, release func(), err error) {
	for {
		s, wait, mustFill, err := p.acquireSlot(tenant)
		switch {
		case err != nil:
			return nil, nil, err
		case mustFill:
			p.openTenantHome(ctx, s)
		case s == nil:
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			p.releaseSlot(s)
			return nil, nil, ctx.Err()
		}
		if s.openError != nil {
			p.releaseSlot(s)
			return nil, nil, s.openError
		}
		return s.home, func() { p.releaseSlot(s) }, nil
	}
}

// acquireSlot returns the slot for the open home of a tenant, and counts the caller as a user of the home. There are
// four cases:
//   - If the home has a slot, acquireSlot returns it.
//   - If the home has no slot, acquireSlot creates one and sets mustOpen. The caller must then call openTenantHome.
//   - If a home must be closed first, acquireSlot returns no slot, but a channel (the result wait). The caller must try
//     again when this channel is closed.
//   - If too many homes are open and all are in use, the error is errAllHomesInUse. If the pool is closed, the error is
//     errPoolClosed.
func (p *Pool) acquireSlot(tenant string) (_ *tenantHomeSlot, wait <-chan struct{}, mustOpen bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.slotsByTenant[tenant]
	switch {
	case p.isClosed:
		return nil, nil, false, errPoolClosed
	case s != nil && s.isClosing:
		return nil, s.closed, false, nil
	case s != nil:
		s.requestsInProgress++
		if s.idleTimer != nil {
			s.idleTimer.Stop()
		}
		return s, nil, false, nil
	case len(p.slotsByTenant) >= p.opts.MaxOpenHomes:
		idle := p.chooseHomeToClose()
		if idle == nil {
			return nil, nil, false, errAllHomesInUse
		}
		if !idle.isClosing {
			p.evictHome(idle)
		}
		return nil, idle.closed, false, nil
	}
	s = &tenantHomeSlot{tenant: tenant, ready: make(chan struct{}), closed: make(chan struct{}), requestsInProgress: 1}
	p.slotsByTenant[tenant] = s
	p.openingCount++
	return s, nil, true, nil
}

// countHomes returns how many homes are open, and how many times homes were opened.
func (p *Pool) countHomes() (openHomeCount, openingCount int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slotsByTenant), p.openingCount
}

// chooseHomeToClose returns the home to close so that another can be opened. It prefers a home that is already
// being closed. Otherwise it returns the home that was unused for the longest time, or nil if all homes are in use.
func (p *Pool) chooseHomeToClose() (idle *tenantHomeSlot) {
	for _, s := range p.slotsByTenant {
		switch {
		case s.isClosing:
			return s
		case s.requestsInProgress == 0 && (idle == nil || s.lastUse.Before(idle.lastUse)):
			idle = s
		}
	}
	return idle
}

// openTenantHome opens the home of the slot s. It sets s.home or s.openError, and then closes s.ready, for which all
// requests of the tenant wait. If opening fails, it removes the slot from the pool, so that the next request tries
// again.
func (p *Pool) openTenantHome(ctx context.Context, s *tenantHomeSlot) {
	// Set an error first, so that the slot does not count as open if the function open panics.
	s.openError = errOpenMemory
	defer func() {
		if s.openError != nil {
			p.mu.Lock()
			delete(p.slotsByTenant, s.tenant)
			p.mu.Unlock()
		}
		close(s.ready)
	}()
	s.home, s.openError = p.open(context.WithoutCancel(ctx), s.tenant)
}

// releaseSlot ends the use of a home by one request. If no other request uses the home, it starts the timer that closes
// the home when the home has been idle for the idle timeout.
func (p *Pool) releaseSlot(s *tenantHomeSlot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.requestsInProgress--
	if s.requestsInProgress > 0 || p.isClosed {
		return
	}
	if p.slotsByTenant[s.tenant] != s {
		// The slot is not in the pool any more, because its home could not be opened. There is nothing to close later.
		return
	}
	s.lastUse = time.Now()
	s.idleTimer = time.AfterFunc(p.opts.IdleTimeout, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		isUsed := s.requestsInProgress > 0 || time.Since(s.lastUse) < p.opts.IdleTimeout
		if s.isClosing || p.isClosed {
			return
		}
		if !isUsed {
			p.evictHome(s)
		}
	})
}

// evictHome closes an unused home in a new goroutine. The caller must hold p.mu.
func (p *Pool) evictHome(s *tenantHomeSlot) {
	s.isClosing = true
	s.idleTimer.Stop()
	go func() {
		if err := s.home.Close(); err != nil {
			p.opts.Logger.Warn("closing the memory of a tenant", "tenant", s.tenant, "error", err)
		}
		p.mu.Lock()
		delete(p.slotsByTenant, s.tenant)
		p.mu.Unlock()
		close(s.closed)
	}()
}

// Close closes all homes. Later requests are refused. It must be called only when no request is in progress.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.isClosed = true
	var all []*tenantHomeSlot
	for _, s := range p.slotsByTenant {
		all = append(all, s)
	}
	p.mu.Unlock()
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() {
			if s.isClosing {
				<-s.closed
				return
			}
			if s.idleTimer != nil {
				s.idleTimer.Stop()
			}
			<-s.ready
			if s.openError == nil {
				errs[i] = s.home.Close()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
