// This file checks the settings of servers and streams. It rejects settings that could lose
// acknowledged changes.

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

// These are the minimum requirements for NATS servers.
const (
	minMajorVersion, minMinorVersion = 2, 15
	minPayloadBytes                  = 8 << 20
)

// ErrSettings reports that servers or streams have settings that are not safe for brains (memories in the cluster). The
// text of the error explains how to fix the settings.
var ErrSettings = errors.New("the servers are not set up for brains")

func settingError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSettings, fmt.Sprintf(format, args...))
}

// checkServers checks the settings of the NATS servers. It returns an error in the following cases:
//   - A server is too old, has limits that are too small, or acknowledges writes before it has synced them.
//   - Fewer than a majority of the servers answer.
//   - The option System is not set, so that the settings cannot be read. If the option Dev is set, this is not an
//     error.
func checkServers(ctx context.Context, nc *nats.Conn, o *Options) error {
	if err := checkVersion("the server", nc.ConnectedServerVersion()); err != nil {
		return err
	}
	if n := nc.MaxPayload(); n < minPayloadBytes {
		return settingError("max_payload is %d; set it to 8MB in the configuration of each server", n)
	}
	if o.System == nil {
		if o.Dev {
			return nil
		}
		return settingError(
			"sync_interval cannot be read without a connection to the system account; give one as Options.System",
		)
	}
	servers, err := serverSettings(ctx, o.System)
	if err != nil {
		return err
	}
	// Require only a majority of the servers, because one of three servers may be down. If a stream must be created,
	// NATS itself fails unless all servers are up.
	if need := o.Replicas/2 + 1; len(servers) < need {
		return &tooFewServersError{len(servers), need, o.Replicas}
	}
	for _, s := range servers {
		if err := s.checkSettings(); err != nil {
			return err
		}
	}
	return nil
}

// checkVersion returns an error if version, such as "2.15.0", is older than the minimum version or cannot be parsed.
// name is the name of the server in the error.
func checkVersion(name, version string) error {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return settingError("%s is of version %q, which cannot be read", name, version)
	}
	major, err := strconv.Atoi(parts[0])
	minor, minorErr := strconv.Atoi(parts[1])
	isOld := major < minMajorVersion || (major == minMajorVersion && minor < minMinorVersion)
	if isOld || errors.Join(err, minorErr) != nil {
		return settingError(
			"%s is of version %s; update it to %d.%d or later",
			name,
			version,
			minMajorVersion,
			minMinorVersion,
		)
	}
	return nil
}

// serverSettingsAnswer is a server's answer about its settings.
type serverSettingsAnswer struct {
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
				Leader   string       `json:"leader"`
				Replicas []memberInfo `json:"replicas"`
			} `json:"meta"`
		} `json:"jetstream"`
	} `json:"data"`
}

func (s *serverSettingsAnswer) checkSettings() error {
	if s.Data.JetStream.Config == nil {
		return nil // The server does not store streams, so its settings cannot endanger data.
	}
	if err := checkVersion("server "+s.Server.Name, s.Data.Version); err != nil {
		return err
	}
	if s.Data.MaxPayload < minPayloadBytes {
		return settingError("server %s has max_payload %d; set it to 8MB", s.Server.Name, s.Data.MaxPayload)
	}
	if !s.Data.JetStream.Config.SyncAlways {
		return settingError(
			"server %s acknowledges before it syncs, and loses what is young with its power; set sync_interval: "+
				"always in its jetstream block",
			s.Server.Name,
		)
	}
	return nil
}

// serverSettings asks all servers for their settings, and returns the answers that arrive. If no server answers, or if
// systemConn is not a connection to the system account, the error matches [ErrSettings].
func serverSettings(ctx context.Context, systemConn *nats.Conn) (servers []serverSettingsAnswer, err error) {
	err = askServers(ctx, systemConn, "VARZ", nil, func(data []byte) error {
		var s serverSettingsAnswer
		if json.Unmarshal(data, &s) != nil || s.Data.Version == "" {
			return settingError("Options.System is not a connection to the system account: the answer is %.80q", data)
		}
		servers = append(servers, s)
		return nil
	})
	if err == nil && len(servers) == 0 {
		err = settingError("no server answers on Options.System; it must be a connection to the system account")
	}
	return servers, err
}

// askServers sends a request to all servers, and calls onAnswer with the data of each answer. It waits 3 seconds for
// the first answer, and ends when no further answer arrives within 300 milliseconds. If no server answers, askServers
// returns nil. If onAnswer returns an error, askServers stops and returns this error. If ctx is done before all answers
// have arrived, it returns the error of ctx. If the connection fails, it returns this error.
func askServers(
	ctx context.Context,
	system *nats.Conn,
	requestName string,
	body []byte,
	onAnswer func(data []byte) error,
) error {
	inbox := system.NewInbox()
	sub, err := system.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := system.PublishRequest("$SYS.REQ.SERVER.PING."+requestName, inbox, body); err != nil {
		return err
	}
	for quiet := 3 * time.Second; ; quiet = 300 * time.Millisecond {
		step, cancel := context.WithTimeout(ctx, quiet)
		m, err := sub.NextMsgWithContext(step)
		cancel()
		switch {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders):
			return ctx.Err() // No further answer arrives, unless ctx itself has ended.
		default:
			return fmt.Errorf("waiting for answers of servers: %w", err)
		}
		if err := onAnswer(m.Data); err != nil {
			return err
		}
	}
}

// streamConfig returns the configuration of the stream for a partition of the brains (memories).
func streamConfig(partition, replicas int) api.StreamConfig {
	subjects := fmt.Sprintf("b.%02d.>", partition)
	return api.StreamConfig{
		Name: streamName(partition), Subjects: []string{subjects}, Storage: api.FileStorage,
		Compression: api.S2Compression,
		Retention:   api.LimitsPolicy, Discard: api.DiscardNew, Replicas: replicas, Duplicates: 100 * time.Millisecond,
		MaxMsgSize: 8 << 20,
		MaxMsgs:    -1, MaxBytes: -1, MaxMsgsPerSubject: -1, MaxConsumers: -1,
		AllowRollup: true, AllowAtomicPublish: true, AllowDirect: true,
		RePublish: &api.RePublish{Source: subjects, Destination: "inv." + subjects, HeadersOnly: true},
	}
}

// checkStreamConfig returns an error if config, the configuration of a stream, differs from want. Only the fields that
// are listed in the function are compared. A configuration without Sources is always accepted.
func checkStreamConfig(config, want api.StreamConfig) error {
	h, w := reflect.ValueOf(config), reflect.ValueOf(want)
	for _, field := range []string{"Subjects", "Storage", "Compression", "Retention", "Discard", "Replicas",
		"Duplicates", "MaxMsgSize", "MaxMsgs", "MaxBytes",
		"MaxAge", "MaxMsgsPerSubject", "AllowRollup", "AllowAtomicPublish", "AllowDirect", "RePublish", "NoAck",
		"Sources", "Mirror"} {
		a, b := h.FieldByName(field).Interface(), w.FieldByName(field).Interface()
		isUnset := field == "Sources" && len(config.Sources) == 0
		if !isUnset && !reflect.DeepEqual(a, b) {
			return settingError(
				"stream %s has %s %v, not %v; change it back with nats stream edit",
				want.Name,
				field,
				dereference(a),
				dereference(b),
			)
		}
	}
	return nil
}

// dereference returns the value to which v points, for use in an error message. If v is not a pointer, or is nil, it
// returns v.
func dereference(v any) any {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		return p.Elem().Interface()
	}
	return v
}
