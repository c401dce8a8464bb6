package gateway_test

import (
	"context"
	"fmt"

	"memdesk/backends/gateway"
	"memdesk/model"
)

// A program that runs agents recalls once before a run and persists once after it. If the gateway does
// not answer, the run continues without memory.
func ExampleAgent_Turn() {
	ctx := context.Background()
	agent, err := gateway.NewAgent(ctx, gateway.MemoryGateway, gateway.Config{
		BaseURL: "http://127.0.0.1:8080", UserID: "ana", UserKey: model.NewSecret("key"), Scope: []string{"current_chat", "resources"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer agent.Close()
	turn := agent.Turn("conversation-1", "Which tea does Ana like?")
	if err := turn.Recall(ctx); err != nil {
		fmt.Println(err)
	}
	answer := run(agent.SystemPrompt("You are helpful."), turn.Messages(nil, nil))
	if err := turn.Persist(ctx, gateway.Completed, answer); err != nil {
		fmt.Println(err)
	}
}

// run represents the program's own call of a model.
func run(system string, messages []gateway.Message) string { return system + messages[0].Content }
