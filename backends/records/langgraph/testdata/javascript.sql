CREATE TABLE store_migrations (v integer PRIMARY KEY);
INSERT INTO store_migrations VALUES (0), (1), (2), (3);
CREATE TABLE store (namespace_path text NOT NULL, key text NOT NULL, value jsonb NOT NULL, created_at timestamptz DEFAULT now(), updated_at timestamptz DEFAULT now(), expires_at timestamptz, PRIMARY KEY (namespace_path, key));
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.updated_at = clock_timestamp(); RETURN NEW; END $$;
CREATE TRIGGER update_store_updated_at BEFORE UPDATE ON store FOR EACH ROW EXECUTE FUNCTION touch();
CREATE TABLE store_vectors (namespace_path text, key text, field_path text, text_content text, embedding real[], created_at timestamptz DEFAULT now());
CREATE TABLE checkpoints (thread_id text, checkpoint_ns text DEFAULT '', checkpoint_id text, parent_checkpoint_id text, type text, checkpoint jsonb, metadata jsonb DEFAULT '{}', PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
CREATE TABLE checkpoint_blobs (thread_id text, checkpoint_ns text DEFAULT '', channel text, version text, type text, blob bytea, PRIMARY KEY (thread_id, checkpoint_ns, channel, version));
CREATE TABLE checkpoint_writes (thread_id text, checkpoint_ns text DEFAULT '', checkpoint_id text, task_id text, idx integer, channel text, type text, blob bytea, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
