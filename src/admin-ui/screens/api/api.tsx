/** The description of the API, for reading: all operations by subject. */
import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { LinkButton } from '#src/admin-ui/kit/button.tsx'
import { SearchBox } from '#src/admin-ui/kit/field.tsx'
import { Card, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { useQuery } from '#src/admin-ui/query.ts'
import { accountTexts } from '../security/texts.ts'
import { type JsonSchema, Schema, type Schemas, typeText } from './schema.tsx'
import './api.css'

/** It changes only with the service. */
const DAY_MS = 86_400_000

type Media = Record<string, { schema?: JsonSchema }>

interface Described {
  tags: string[]
  summary?: string
  parameters?: { name?: string; in?: string; required?: boolean; schema?: JsonSchema }[]
  requestBody?: { content?: Media }
  responses: Record<string, { description?: string; content?: Media; $ref?: string }>
}

interface Operation extends Described {
  method: string
  path: string
}

const schemasOf = (document: object): Schemas =>
  (document as { components?: { schemas?: Schemas } }).components?.schemas ?? {}

const listOf = (paths: unknown): Operation[] =>
  Object.entries(paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => Array.isArray(operation.tags))
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

const schemaOf = (media: Media | undefined) => Object.values(media ?? {})[0]?.schema

function Details({ operation, schemas }: { operation: Operation; schemas: Schemas }) {
  const t = accountTexts().api
  const parameters = operation.parameters?.filter((one) => one.name !== undefined) ?? []
  const body = schemaOf(operation.requestBody?.content)
  return (
    <div class="stack api-details">
      {parameters.length > 0 && (
        <>
          <h3>{t.parameters}</h3>
          <ul>
            {parameters.map((one) => (
              <li key={`${one.in} ${one.name}`}>
                <code class="mono">{one.name}</code>{' '}
                <span class="muted">
                  {one.in}
                  {one.schema && `, ${typeText(one.schema)}`}
                  {one.required && `, ${t.required}`}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {body !== undefined && (
        <>
          <h3>{t.body}</h3>
          <Schema schema={body} schemas={schemas} />
        </>
      )}
      <h3>{t.answers}</h3>
      <ul>
        {Object.entries(operation.responses).map(([status, answer]) => {
          const schema = schemaOf(answer.content)
          return (
            <li key={status}>
              <b class="num">{status}</b>{' '}
              <span class="muted">{answer.description ?? answer.$ref?.split('/').at(-1)}</span>
              {schema !== undefined && <Schema schema={schema} schemas={schemas} />}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

function OperationLine({ operation, schemas }: { operation: Operation; schemas: Schemas }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="api-op" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b class="mono api-method">{operation.method}</b>
        <span class="mono break">{operation.path}</span>
        <span class="muted">{operation.summary}</span>
      </summary>
      {open && <Details operation={operation} schemas={schemas} />}
    </details>
  )
}

function Subjects({ operations, schemas }: { operations: Operation[]; schemas: Schemas }) {
  const t = accountTexts().api
  const tags = [...new Set(operations.map(({ tags: [tag = ''] }) => tag))]
  if (tags.length === 0) return <Empty title={t.none} icon="search" />
  return (
    <>
      {tags.map((tag) => (
        <Card key={tag} title={tag} flush>
          {operations
            .filter((operation) => operation.tags[0] === tag)
            .map((operation) => (
              <OperationLine
                key={`${operation.method} ${operation.path}`}
                operation={operation}
                schemas={schemas}
              />
            ))}
        </Card>
      ))}
    </>
  )
}

const matches = (words: string) => (operation: Operation) =>
  `${operation.method} ${operation.path} ${operation.summary}`
    .toLowerCase()
    .includes(words.toLowerCase())

export function ApiReference() {
  const t = accountTexts().api
  const description = useQuery('openapi', () => ok(api['openapi.json'].$get()), {
    stale: DAY_MS,
  })
  const [asked, setAsked] = useState('')
  const all = description.data && listOf(description.data.paths)
  return (
    <>
      <PageHeader title={t.title} sub={all ? t.sub(all.length) : ' '}>
        <LinkButton icon="download" download href="/admin/api/openapi.json">
          {t.download}
        </LinkButton>
      </PageHeader>
      <div class="api-find">
        <SearchBox label={t.find} value={asked} onValue={setAsked} />
      </div>
      <Loaded query={description} lines={8}>
        {(document) => (
          <Subjects operations={(all ?? []).filter(matches(asked))} schemas={schemasOf(document)} />
        )}
      </Loaded>
    </>
  )
}
