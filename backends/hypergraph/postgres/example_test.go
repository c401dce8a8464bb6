package postgres_test

import (
	"context"
	"fmt"
	"os"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/model"
)

// A Go program opens a workspace and creates the schema where there is none.
func ExampleCreate() {
	ctx := context.Background()
	graph, err := postgres.Create(ctx, postgres.Config{DSN: model.NewSecret(os.Getenv("DATABASE_URL")), Workspace: "research"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer graph.Close()
	err = graph.CreateNode(ctx, hypergraph.Node{ID: "tides", Type: "fact", Tier: "longterm", Confidence: 1, Content: "High water is at six."})
	fmt.Println(model.KindOf(err))
}

// Open changes nothing, so it fails without a schema.
func ExampleOpen() {
	graph, err := postgres.Open(context.Background(), postgres.Config{DSN: model.NewSecret(os.Getenv("DATABASE_URL")), ReadOnly: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer graph.Close()
	fmt.Println(graph.Location())
}
