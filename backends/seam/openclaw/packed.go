package openclaw

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/klauspost/compress/zstd"

	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// archiveTables hold ended conversations as lines of JSON, mostly compressed, with their checksum beside them.
var archiveTables = []string{"session_transcript_archives", "session_transcript_cold_archives"}

// conversationTables are the tables of conversations (OC13).
var conversationTables = append([]string{transcriptTable}, archiveTables...)

// maxUnpacked bounds one conversation, in bytes.
const maxUnpacked = 256 << 20

// repack prepares compressed conversations for redaction, because OpenClaw cannot read a part of a compressed text. An
// event that names the subject becomes plain JSON, which its table also takes and the scrub redacts. An archive is
// redacted here, compressed again, given its new checksum, and counted.
func repack(q *litefile.Query, layer string, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Concerns == nil || req.Redact == nil {
		return nil, nil
	}
	columns, err := litefile.Columns(q, transcriptTable)
	if err != nil {
		return nil, err
	}
	if slices.Contains(columns, "event_zstd") {
		set := `event_json = ?, event_zstd = NULL`
		for _, c := range []string{"event_utf8_bytes", "navigation_json"} { // of the compressed text; schemas differ in them
			if slices.Contains(columns, c) {
				set += `, ` + c + ` = NULL`
			}
		}
		err := eachPacked(q, transcriptTable, "COALESCE(event_zstd, CAST(event_json AS BLOB))", req, func(row int64, _, text []byte) error {
			_, err := q.Exec(`UPDATE `+transcriptTable+` SET `+set+` WHERE rowid = ?`, string(text), row)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	archives := model.LayerResult{Layer: layer, Method: "conversations redacted", Verdict: model.VerdictClean}
	for _, table := range archiveTables {
		columns, err := litefile.Columns(q, table)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(columns, "archive_blob") || !slices.Contains(columns, "archive_sha256") {
			continue
		}
		err = eachPacked(q, table, "archive_blob", req, func(row int64, blob, text []byte) error {
			out := redactLines(text, req)
			size := len(out)
			if !bytes.Equal(blob, text) {
				if out, err = pack(out); err != nil {
					return err
				}
			}
			sum := sha256.Sum256(out)
			set, args := `archive_blob = ?, archive_sha256 = ?`, []any{out, hex.EncodeToString(sum[:])}
			if slices.Contains(columns, "archive_bytes") {
				set, args = set+`, archive_bytes = ?`, append(args, len(out))
			}
			if slices.Contains(columns, "raw_bytes") {
				set, args = set+`, raw_bytes = ?`, append(args, size)
			}
			if slices.Contains(columns, "published_at") { // OpenClaw writes its file anew
				set += `, published_at = NULL`
			}
			archives.Rows++
			_, err := q.Exec(`UPDATE `+table+` SET `+set+` WHERE rowid = ?`, append(args, row)...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if archives.Rows == 0 {
		return nil, nil
	}
	return []model.LayerResult{archives}, nil
}

// eachPacked hands out the conversations of a table that name the subject, as they are and unpacked. One that is
// damaged, or larger than maxUnpacked, is left: the verification tells of it.
func eachPacked(q *litefile.Query, table, what string, req model.ScrubRequest, fn func(row int64, blob, text []byte) error) error {
	var rows []int64
	err := q.Each(`SELECT rowid, `+what+` FROM `+table, nil, func(scan func(...any) error) error {
		var row int64
		var blob []byte
		err := scan(&row, &blob)
		if err == nil && len(blob) > 0 && req.Concerns(blob) {
			rows = append(rows, row)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		var blob []byte
		if _, err := q.One(`SELECT `+what+` FROM `+table+` WHERE rowid = ?`, []any{row}, &blob); err != nil {
			return err
		}
		text, err := unpack(blob)
		if err != nil {
			continue
		}
		if err := fn(row, blob, text); err != nil {
			return err
		}
	}
	return nil
}

// redactLines redacts each line of JSON by itself, so that it stays JSON.
func redactLines(text []byte, req model.ScrubRequest) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if body := bytes.TrimSuffix(line, []byte("\n")); req.Concerns(body) {
			line = append(req.Redact(body), line[len(body):]...)
		}
		out = append(out, line...)
	}
	return out
}

func unpack(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte("\x28\xb5\x2f\xfd")) { // magic bytes of zstd
		return b, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpacked), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.DecodeAll(b, nil)
}

func pack(b []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return z.EncodeAll(b, nil), z.Close()
}
