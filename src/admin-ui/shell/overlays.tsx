/** Drawers that a parameter of the address opens on any screen. */
import { type Route, setQuery } from '#src/admin-ui/router.ts'
import { OVERLAYS, type Overlay } from '#src/admin-ui/routes.ts'
import { usePart } from './screen-view.tsx'

function OneOverlay({ name, id }: { name: string; id: string }) {
  const part = usePart<Overlay>(`?${name}`, OVERLAYS[name])
  if (typeof part === 'string') return null
  const { component: Component } = part
  return <Component id={id} close={() => setQuery({ [name]: '' })} />
}

export const Overlays = ({ route }: { route: Route }) => (
  <>
    {Object.keys(OVERLAYS).map((name) => {
      const id = route.query.get(name)
      return id !== null && <OneOverlay key={`${name} ${id}`} name={name} id={id} />
    })}
  </>
)
