package receipt_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestNoReceiptThatCannotBeRead: what is signed must be readable, because the names of the request go on the strength of it.
func TestNoReceiptThatCannotBeRead(t *testing.T) {
	key, err := receipt.LoadKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	layer := receipt.Layer{Layer: strings.Repeat("x", 1<<20)}
	for n, want := range map[int]error{2: nil, 60: model.Unsupported} {
		rec := receipt.Receipt{Request: "er-1"}
		for range n {
			rec.Layers = append(rec.Layers, layer)
		}
		if _, err := key.Sign(rec); !errors.Is(err, want) {
			t.Errorf("%d MB: %v, want %v", n, err, want)
		}
	}
}
