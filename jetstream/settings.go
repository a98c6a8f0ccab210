// Settings of servers and streams: those that could lose what was acknowledged are
// refused.

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	api "github.com/nats-io/nats.go/jetstream"
)

// What servers must be.
const (
	leastMajor, leastMinor = 2, 15
	leastPayload           = 8 << 20
)

// ErrSettings is the error of servers or streams whose settings are not those that
// brains need. Its text has the mend.
var ErrSettings = errors.New("the servers are not set up for brains")

func setting(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSettings, fmt.Sprintf(format, args...))
}

// checkServers refuses servers that are too old, too small, or acknowledge before
// they sync, and fewer than most of those that hold a brain.
func checkServers(ctx context.Context, nc *nats.Conn, o *Options) error {
	if err := checkVersion("the server", nc.ConnectedServerVersion()); err != nil {
		return err
	}
	if n := nc.MaxPayload(); n < leastPayload {
		return setting("max_payload is %d; set it to 8MB in the configuration of each server", n)
	}
	if o.System == nil {
		if o.Dev {
			return nil
		}
		return setting("sync_interval cannot be read without a connection to the system account; give one as Options.System")
	}
	servers, err := serverSettings(ctx, o.System)
	if err != nil {
		return err
	}
	// One of three may be down: making a stream, the servers refuse without it.
	if need := o.Replicas/2 + 1; len(servers) < need {
		return &fewError{len(servers), need, o.Replicas}
	}
	for _, s := range servers {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion refuses a server that is too old.
func checkVersion(name, version string) error {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return setting("%s is of version %q, which cannot be read", name, version)
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	if err != nil || err2 != nil || major < leastMajor || (major == leastMajor && minor < leastMinor) {
		return setting("%s is of version %s; update it to %d.%d or later", name, version, leastMajor, leastMinor)
	}
	return nil
}

// serverSetting is what a server answers of its settings.
type serverSetting struct {
	Server struct {
		Name string `json:"name"`
	} `json:"server"`
	Data struct {
		Version    string `json:"version"`
		MaxPayload int    `json:"max_payload"`
		JetStream  struct {
			Config *struct {
				SyncAlways   bool          `json:"sync_always"`
				SyncInterval time.Duration `json:"sync_interval"`
				StoreDir     string        `json:"store_dir"`
			} `json:"config"`
			Meta *struct {
				Leader   string        `json:"leader"`
				Replicas []replicaInfo `json:"replicas"`
			} `json:"meta"`
		} `json:"jetstream"`
	} `json:"data"`
}

func (s *serverSetting) check() error {
	if s.Data.JetStream.Config == nil {
		return nil // it holds no streams
	}
	if err := checkVersion("server "+s.Server.Name, s.Data.Version); err != nil {
		return err
	}
	if s.Data.MaxPayload < leastPayload {
		return setting("server %s has max_payload %d; set it to 8MB", s.Server.Name, s.Data.MaxPayload)
	}
	if !s.Data.JetStream.Config.SyncAlways {
		return setting("server %s acknowledges before it syncs, and loses what is young with its power; set sync_interval: always in its jetstream block", s.Server.Name)
	}
	return nil
}

// serverSettings asks all servers.
func serverSettings(ctx context.Context, system *nats.Conn) (servers []serverSetting, err error) {
	err = askServers(ctx, system, "VARZ", nil, func(data []byte) error {
		var s serverSetting
		if json.Unmarshal(data, &s) != nil || s.Data.Version == "" {
			return setting("Options.System is not a connection to the system account: the answer is %.80q", data)
		}
		servers = append(servers, s)
		return nil
	})
	if err == nil && len(servers) == 0 {
		err = setting("no server answers on Options.System; it must be a connection to the system account")
	}
	return servers, err
}

// askServers asks all servers, and calls fn with their answers until no more come.
func askServers(ctx context.Context, system *nats.Conn, what string, body []byte, fn func(data []byte) error) error {
	inbox := system.NewInbox()
	sub, err := system.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := system.PublishRequest("$SYS.REQ.SERVER.PING."+what, inbox, body); err != nil {
		return err
	}
	for quiet := 3 * time.Second; ; quiet = 300 * time.Millisecond {
		step, cancel := context.WithTimeout(ctx, quiet)
		m, err := sub.NextMsgWithContext(step)
		cancel()
		if err != nil {
			return nil
		}
		if err := fn(m.Data); err != nil {
			return err
		}
	}
}

// streamConfig is the configuration of a stream of brains.
func streamConfig(partition, replicas int) api.StreamConfig {
	subjects := fmt.Sprintf("b.%02d.>", partition)
	return api.StreamConfig{
		Name: streamName(partition), Subjects: []string{subjects}, Storage: api.FileStorage, Compression: api.S2Compression,
		Retention: api.LimitsPolicy, Discard: api.DiscardNew, Replicas: replicas, Duplicates: 100 * time.Millisecond, MaxMsgSize: 8 << 20,
		MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxConsumers: -1,
		AllowRollup: true, AllowAtomicPublish: true, AllowDirect: true,
		RePublish: &api.RePublish{Source: subjects, Destination: "inv." + subjects, HeadersOnly: true},
	}
}

// checkStream refuses a stream that is not configured as wanted.
func checkStream(have, want api.StreamConfig) error {
	h, w := reflect.ValueOf(have), reflect.ValueOf(want)
	for _, field := range []string{"Subjects", "Storage", "Compression", "Retention", "Discard", "Replicas", "Duplicates", "MaxMsgSize", "MaxMsgs", "MaxBytes",
		"MaxAge", "MaxMsgsPerSubject", "AllowRollup", "AllowAtomicPublish", "AllowDirect", "RePublish", "NoAck", "Sources", "Mirror"} {
		a, b := h.FieldByName(field).Interface(), w.FieldByName(field).Interface()
		if !reflect.DeepEqual(a, b) && (field != "Sources" || len(have.Sources) > 0) {
			return setting("stream %s has %s %v, not %v; change it back with nats stream edit", want.Name, field, shown(a), shown(b))
		}
	}
	return nil
}

// shown returns what a pointer points to, for an error.
func shown(v any) any {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		return p.Elem().Interface()
	}
	return v
}
